// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_method.hpp"

#include "common/plan/group_index.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

/// Blocks of every member, equal and one behind the other; an exchange without data has none.
bool equal_and_packed(std::vector<Block> const& blocks, int places) {
    if (blocks.empty()) {
        return true;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].bytes != blocks[0].bytes || blocks[i].offset != blocks[0].offset + i * blocks[0].bytes) {
            return false;
        }
    }
    return blocks.size() == static_cast<std::size_t>(places);
}

/// Nothing for steps that are no collective, and for an exchange whose blocks are not equal and packed.
struct MakeCollective {
    Plan const& plan;
    Buffers const& buffers;

    std::optional<Collective> operator()(Exchange const& step) const {
        Collective made = on_group(step.group);
        if (!equal_and_packed(step.send, made.shape.places) || !equal_and_packed(step.recv, made.shape.places) ||
            step.send.size() != step.recv.size()) {
            return std::nullopt;
        }
        if (!step.send.empty()) {
            made.shape.bytes = step.send[0].bytes * static_cast<Bytes>(made.shape.places);
            made.input = at({step.send_buffer, step.send[0].offset});
            made.output = at({step.recv_buffer, step.recv[0].offset});
        }
        return made;
    }
    std::optional<Collective> operator()(AllReduce const& step) const {
        Collective made = reducing(step);
        made.shape.in_place = made.input == made.output;
        return made;
    }
    std::optional<Collective> operator()(ReduceScatter const& step) const {
        Collective made = reducing(step);
        made.shape.in_place = made.output == made.input + own_part(made.shape);
        return made;
    }
    std::optional<Collective> operator()(AllGather const& step) const {
        Collective made = between(step);
        made.shape.in_place = made.input == made.output + own_part(made.shape);
        return made;
    }
    std::optional<Collective> operator()(Broadcast const& step) const {
        Collective made = on_group(step.group);
        made.shape.bytes = step.bytes;
        made.shape.element = step.element;
        made.shape.root = step.root;
        made.shape.in_place = true;
        made.input = made.output = at(step.data);
        return made;
    }
    template <class Other>
    std::optional<Collective> operator()(Other const& /*step*/) const {
        return std::nullopt;
    }

    template <class Step>
    [[nodiscard]] Collective reducing(Step const& step) const {
        Collective made = between(step);
        made.reduction = step.reduction;
        return made;
    }
    template <class Step>
    [[nodiscard]] Collective between(Step const& step) const {
        Collective made = on_group(step.group);
        made.shape.bytes = step.bytes;
        made.shape.element = step.element;
        made.input = at(step.send);
        made.output = at(step.recv);
        return made;
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
    [[nodiscard]] static Bytes own_part(algorithms::Shape const& shape) {
        return static_cast<Bytes>(shape.place) * shape.part();
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
    if (works_on_device(kind) && chosen.segment == 0 && shape.kind != OperationKind::broadcast) {
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
