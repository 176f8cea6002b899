// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/eplb.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb::moe_alltoall {
namespace {

/// The expert of each of `replicas` replicas: each expert once, then always the one whose replicas carry most.
struct Replicas {
    std::vector<std::size_t> expert_of;
    std::vector<double> count;  // by expert
};

Replicas replicate(std::span<double const> loads, std::size_t replicas) {
    Replicas result{std::vector<std::size_t>(loads.size()), std::vector<double>(loads.size(), 1)};
    std::iota(result.expert_of.begin(), result.expert_of.end(), std::size_t{0});
    while (result.expert_of.size() < replicas) {
        std::size_t most = 0;
        for (std::size_t expert = 1; expert < loads.size(); ++expert) {
            if (loads[expert] / result.count[expert] > loads[most] / result.count[most]) {
                most = expert;
            }
        }
        result.expert_of.push_back(most);
        ++result.count[most];
    }
    return result;
}

std::vector<double> group_loads(std::span<std::uint64_t const> loads, std::size_t groups) {
    std::size_t const size = loads.size() / groups;
    std::vector<double> sums(groups);
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
        sums[expert / size] += static_cast<double>(loads[expert]);
    }
    return sums;
}

/// The experts of each node, its groups in the order of packing.
std::vector<std::vector<std::size_t>> experts_of_nodes(std::span<std::uint64_t const> loads, EplbShape const& shape) {
    std::size_t const size = loads.size() / shape.groups;
    std::size_t const groups_per_node = shape.groups / shape.nodes;
    ReplicaPacking const groups = pack_evenly(group_loads(loads, shape.groups), shape.nodes);
    std::vector<std::vector<std::size_t>> experts(shape.nodes, std::vector<std::size_t>(groups_per_node * size));
    for (std::size_t group = 0; group < shape.groups; ++group) {
        for (std::size_t i = 0; i < size; ++i) {
            experts[groups.pack_of[group]][groups.place_of[group] * size + i] = group * size + i;
        }
    }
    return experts;
}

}  // namespace

ReplicaPacking pack_evenly(std::span<double const> loads, std::size_t packs) {
    std::size_t const room = loads.size() / packs;
    ReplicaPacking packing{std::vector<std::size_t>(loads.size()), std::vector<std::size_t>(loads.size())};
    if (room == 1) {
        std::iota(packing.pack_of.begin(), packing.pack_of.end(), std::size_t{0});
        return packing;
    }
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    std::vector<double> sums(packs);
    std::vector<std::size_t> held(packs);
    for (std::size_t const item : order) {
        std::size_t least = packs;
        for (std::size_t pack = 0; pack < packs; ++pack) {
            if (held[pack] < room && (least == packs || sums[pack] < sums[least])) {
                least = pack;
            }
        }
        packing.pack_of[item] = least;
        packing.place_of[item] = held[least]++;
        sums[least] += loads[item];
    }
    return packing;
}

std::vector<std::size_t> eplb(std::span<std::uint64_t const> loads, EplbShape shape) {
    if (shape.groups % shape.nodes != 0) {
        shape.groups = 1;
        shape.nodes = 1;
    }
    std::size_t const node_replicas = shape.replicas / shape.nodes;
    std::size_t const node_ranks = shape.ranks / shape.nodes;
    std::size_t const room = node_replicas / node_ranks;
    std::vector<std::size_t> placed(shape.replicas);
    std::size_t first = 0;  // place of the node
    for (std::vector<std::size_t> const& experts : experts_of_nodes(loads, shape)) {
        std::vector<double> node_loads;
        for (std::size_t const expert : experts) {
            node_loads.push_back(static_cast<double>(loads[expert]));
        }
        Replicas const replicas = replicate(node_loads, node_replicas);
        std::vector<double> carried;
        for (std::size_t const expert : replicas.expert_of) {
            carried.push_back(node_loads[expert] / replicas.count[expert]);
        }
        ReplicaPacking const ranks = pack_evenly(carried, node_ranks);
        for (std::size_t i = 0; i < node_replicas; ++i) {
            placed[first + ranks.pack_of[i] * room + ranks.place_of[i]] = experts[replicas.expert_of[i]];
        }
        first += node_replicas;
    }
    return placed;
}

}  // namespace dlmb::moe_alltoall
