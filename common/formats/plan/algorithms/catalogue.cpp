// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/algorithms/catalogue.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace dlmb::algorithms {
namespace {

using Kind = OperationKind;

constexpr std::uint32_t of(std::initializer_list<Kind> kinds) {
    std::uint32_t bits = 0;
    for (Kind const kind : kinds) {
        bits |= 1U << static_cast<std::uint32_t>(kind);
    }
    return bits;
}

constexpr std::uint32_t with_root = of({Kind::reduce, Kind::gather, Kind::scatter, Kind::broadcast});
constexpr std::uint32_t without_root = of({Kind::all_reduce, Kind::reduce_scatter, Kind::all_gather});

struct Row {
    std::string_view name;
    std::uint32_t operations;
    Algorithm algorithm;
};

// A name with two rows is a tree where there is a root.
constexpr std::array<Row, 13> rows{{
    {"auto", with_root | without_root | of({Kind::barrier}), automatic},
    {"recursive_doubling", of({Kind::all_reduce}), recursive_doubling},
    {"ring", without_root, ring},
    {"knomial", without_root, knomial},
    {"knomial", with_root, knomial_tree},
    {"reproducible", of({Kind::all_reduce, Kind::reduce_scatter}), fixed_tree},
    {"bruck", of({Kind::exchange}), bruck_exchange},
    {"bruck_allgather", of({Kind::all_gather}), bruck_all_gather},
    {"neighbor", of({Kind::all_gather}), neighbor},
    {"chain", of({Kind::broadcast, Kind::reduce}), chain},
    {"scatter_allgather", of({Kind::broadcast}), scatter_allgather},
    {"direct_parts", of({Kind::gather, Kind::scatter}), direct_parts},
    {"dissemination", of({Kind::barrier}), dissemination},
}};

/// Nothing for steps that are no collective, and for an exchange whose blocks are not equal and packed.
struct MakeCollective {
    Plan const& plan;

    std::optional<Collective> operator()(Exchange const& step) const {
        Collective made = on_group(step.group);
        auto const send = packed(step.send, static_cast<std::size_t>(made.shape.places));
        auto const recv = packed(step.recv, static_cast<std::size_t>(made.shape.places));
        if (!send || !recv || send->block_bytes != recv->block_bytes) {
            return std::nullopt;
        }
        if (send->block_bytes > 0) {
            made.shape.bytes = send->block_bytes * static_cast<Bytes>(made.shape.places);
            made.input = {step.send_buffer, send->offset};
            made.output = {step.recv_buffer, recv->offset};
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
        made.input = made.output = step.data;
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
            made.input = step.send;
            made.output = step.recv;
            // In place, a rank's own part of the larger buffer is the smaller one.
            constexpr bool keeps = std::is_same_v<Step, ReduceScatter> || std::is_same_v<Step, Scatter>;
            constexpr bool gathers = std::is_same_v<Step, AllGather> || std::is_same_v<Step, Gather>;
            Bytes const own = keeps || gathers ? made.shape.own_begin() : 0;
            made.shape.in_place = touches_both && made.input.buffer == made.output.buffer &&
                                  made.input.offset + (keeps ? own : 0) == made.output.offset + (gathers ? own : 0);
            return made;
        } else {
            return std::nullopt;
        }
    }

    [[nodiscard]] Collective on_group(GroupId id) const {
        Group const& group = plan.groups.at(id);
        auto const place = rank_in(group, plan.me);
        if (!place) {
            throw Error("a rank has a step on a group that it is not in");
        }
        Collective made;
        made.group = id;
        made.shape.place = *place;
        made.shape.places = static_cast<int>(group.members.size());
        return made;
    }
};

}  // namespace

Algorithm find(std::string_view name, OperationKind kind) {
    auto const found = std::find_if(rows.begin(), rows.end(), [&](Row const& row) {
        return row.name == name && (row.operations & of({kind})) != 0;
    });
    return found == rows.end() ? nullptr : found->algorithm;
}

std::vector<std::string> names_for(OperationKind kind) {
    std::vector<std::string> names;
    for (Row const& row : rows) {
        if ((row.operations & of({kind})) != 0) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

std::optional<Collective> collective_of(Plan const& plan, Operation const& operation) {
    std::optional<Collective> made = std::visit(MakeCollective{plan}, operation);
    if (made) {
        made->shape.kind = kind_of(operation);
    }
    return made;
}

}  // namespace dlmb::algorithms
