// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_method.hpp"

#include "common/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>

namespace dlmb::ucx {
namespace {

/// Nothing for steps that are no collective, and for an exchange whose blocks are not equal and packed.
struct MakeCollective {
    Plan const& plan;
    Buffers const& buffers;

    std::optional<Collective> operator()(Exchange const& step) const {
        Collective made = on_group(step.group);
        auto const send = packed(step.send, static_cast<std::size_t>(made.shape.places));
        auto const recv = packed(step.recv, static_cast<std::size_t>(made.shape.places));
        if (!send || !recv || send->block_bytes != recv->block_bytes) {
            return std::nullopt;
        }
        if (send->block_bytes > 0) {
            made.shape.bytes = send->block_bytes * static_cast<Bytes>(made.shape.places);
            made.input = at({step.send_buffer, send->offset});
            made.output = at({step.recv_buffer, recv->offset});
        }
        return made;
    }
    std::optional<Collective> operator()(Barrier const& step) const { return on_group(step.group); }
    std::optional<Collective> operator()(Broadcast const& step) const {
        Collective made = on_group(step.group);
        made.shape.bytes = step.bytes;
        made.shape.element = step.element;
        made.shape.root = step.root;
        made.shape.in_place = true;
        made.input = made.output = at(step.data);
        return made;
    }
    template <class Step>
    std::optional<Collective> operator()(Step const& step) const {
        if constexpr (requires { step.send.buffer; }) {
            Collective made = on_group(step.group);
            made.shape.bytes = step.bytes;
            made.shape.element = step.element;
            if constexpr (requires { step.reduction; }) {
                made.reduction = step.reduction;
            }
            if constexpr (requires { step.shares; }) {
                made.shape.shares = step.shares;
            }
            bool touches_both = true;
            if constexpr (requires { step.root; }) {
                made.shape.root = step.root;
                touches_both = step.root == made.shape.place;
            }
            made.input = at(step.send);
            made.output = at(step.recv);
            // In place, a rank's own part of the larger buffer is the smaller one.
            constexpr bool keeps = std::is_same_v<Step, ReduceScatter> || std::is_same_v<Step, Scatter>;
            constexpr bool gathers = std::is_same_v<Step, AllGather> || std::is_same_v<Step, Gather>;
            Bytes const own = keeps || gathers ? made.shape.own_begin() : 0;
            made.shape.in_place = touches_both && made.input + (keeps ? own : 0) == made.output + (gathers ? own : 0);
            return made;
        } else {
            return std::nullopt;
        }
    }

    [[nodiscard]] Collective on_group(GroupId id) const {
        Group const& group = plan.groups.at(id);
        auto const place = rank_in(group, plan.me);
        if (!place) {
            throw Error(fmt::format("ucx: rank {} has a step on a group that it is not in", plan.me));
        }
        Collective made;
        made.group = id;
        made.shape.place = *place;
        made.shape.places = static_cast<int>(group.members.size());
        return made;
    }
    [[nodiscard]] std::byte* at(Region const& region) const { return buffers.base.at(region.buffer) + region.offset; }
};

std::optional<Collective> collective_of(Plan const& plan, Operation const& operation, Buffers const& buffers) {
    std::optional<Collective> made = std::visit(MakeCollective{plan, buffers}, operation);
    if (made) {
        made->shape.kind = kind_of(operation);
    }
    return made;
}

/// The device pays some microseconds per piece, for a kernel and a message, whatever its size: a few pieces per part
/// are enough that it reduces one while the next is on its way. A chain is better the more pieces it has.
algorithms::Knobs knobs_for(MemoryKind kind, algorithms::Shape const& shape, algorithms::Knobs chosen) {
    constexpr Bytes pieces_on_device = 4;
    bool const in_parts = shape.kind != OperationKind::broadcast && shape.kind != OperationKind::reduce;
    if (works_on_device(kind) && chosen.segment == 0 && in_parts) {
        chosen.segment =
            std::max(algorithms::default_segment, (shape.part() + pieces_on_device - 1) / pieces_on_device);
    }
    return chosen;
}

}  // namespace

Expected<std::vector<StepMethod>, Unsupported> step_methods(Plan const& plan, Buffers const& buffers,
                                                            ChosenMethods const& methods) {
    std::vector<StepMethod> made(plan.steps.size());
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        OperationKind const kind = kind_of(step.operation);
        if (kind == OperationKind::compute) {
            continue;
        }
        Method const& method = methods.method_for(kind);
        if (method.algorithm_for == nullptr) {
            made[id].messages = &method;
            continue;
        }
        made[id].collective = collective_of(plan, step.operation, buffers);
        if (!made[id].collective) {
            return Unsupported{fmt::format("step \"{}\": ucx {} takes exchanges of equal, packed blocks only",
                                           step.label, method.info.name)};
        }
        algorithms::Shape const& shape = made[id].collective->shape;
        made[id].micro =
            method.algorithm_for(kind)(shape, knobs_for(buffers.kind, shape, methods.knobs_of(method).algorithm));
    }
    return made;
}

}  // namespace dlmb::ucx
