// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/oversubscription.hpp"

#include "common/base/error.hpp"

#include <cstring>
#include <map>
#include <sched.h>

namespace dlmb {
namespace {

struct Place {
    Rank node_leader = 0;
    cpu_set_t units{};
};

Place own_place(Bootstrap const& bootstrap) {
    Place place;
    place.node_leader = bootstrap.node_leader();
    CPU_ZERO(&place.units);
    if (sched_getaffinity(0, sizeof place.units, &place.units) != 0) {
        CPU_SET(0, &place.units);
    }
    return place;
}

struct Node {
    int ranks = 0;
    cpu_set_t units{};
};

}  // namespace

bool oversubscribed(Bootstrap& bootstrap) {
    Place const mine = own_place(bootstrap);
    std::map<Rank, Node> nodes;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        Place place;
        if (blob.size() != sizeof place) {
            throw Error("a rank told its place in another size");
        }
        std::memcpy(&place, blob.data(), sizeof place);
        Node& node = nodes[place.node_leader];
        ++node.ranks;
        CPU_OR(&node.units, &node.units, &place.units);
    }
    for (auto const& [leader, node] : nodes) {
        if (node.ranks > CPU_COUNT(&node.units)) {
            return true;
        }
    }
    return false;
}

bool should_yield(YieldPolicy policy, Bootstrap& bootstrap) {
    return policy == YieldPolicy::automatic ? oversubscribed(bootstrap) : policy == YieldPolicy::always;
}

}  // namespace dlmb
