// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/algorithms/catalogue.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/group_index.hpp"

#include <algorithm>
#include <array>

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

struct CatalogueRow {
    std::string_view name;
    std::uint32_t operations;
    Algorithm algorithm;
};

// A name with two rows is a tree where there is a root.
constexpr std::array<CatalogueRow, 13> rows{{
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

}  // namespace

Algorithm find(std::string_view name, OperationKind kind) {
    auto const found = std::find_if(rows.begin(), rows.end(), [&](CatalogueRow const& row) {
        return row.name == name && (row.operations & of({kind})) != 0;
    });
    return found == rows.end() ? nullptr : found->algorithm;
}

std::vector<std::string> names_for(OperationKind kind) {
    std::vector<std::string> names;
    for (CatalogueRow const& row : rows) {
        if ((row.operations & of({kind})) != 0) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

std::optional<ShapedStep> shaped_step(Plan const& plan, Operation const& operation) {
    auto const id = collective_group(operation);
    if (!id) {
        return std::nullopt;
    }
    Group const& group = plan.groups.at(*id);
    auto const place = rank_in(group, plan.me);
    if (!place) {
        throw Error("a rank has a step on a group that it is not in");
    }
    ShapedStep made;
    made.group = *id;
    made.shape.kind = kind_of(operation);
    made.shape.place = *place;
    made.shape.places = static_cast<int>(group.members.size());
    if (auto const* exchange = std::get_if<Exchange>(&operation)) {
        auto const send = packed(exchange->send, group.members.size());
        auto const recv = packed(exchange->recv, group.members.size());
        if (!send || !recv || send->block_bytes != recv->block_bytes) {
            return std::nullopt;
        }
        if (send->block_bytes > 0) {
            made.shape.bytes = send->block_bytes * static_cast<Bytes>(made.shape.places);
            made.input = {exchange->send_buffer, send->offset};
            made.output = {exchange->recv_buffer, recv->offset};
        }
    } else if (auto const* step = std::get_if<Collective>(&operation)) {
        made.shape.bytes = step->bytes;
        made.shape.element = step->element;
        made.shape.root = step->root;
        made.shape.shares = step->shares;
        made.shape.in_place = sides_of(plan, *step).in_place;
        made.reduction = step->reduction;
        made.input = step->send;
        made.output = step->recv;
    }
    return made;
}

}  // namespace dlmb::algorithms
