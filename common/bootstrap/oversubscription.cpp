// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/oversubscription.hpp"

#include "common/base/error.hpp"

#include <cstring>
#include <map>
#include <sched.h>

namespace dlmb {
namespace {

struct Processors {
    Rank node_leader = 0;
    cpu_set_t units{};
};

Processors own_processors(Bootstrap const& bootstrap) {
    Processors processors;
    processors.node_leader = bootstrap.node_leader();
    CPU_ZERO(&processors.units);
    if (sched_getaffinity(0, sizeof processors.units, &processors.units) != 0) {
        CPU_SET(0, &processors.units);
    }
    return processors;
}

struct Node {
    int ranks = 0;
    cpu_set_t units{};
};

}  // namespace

bool oversubscribed(Bootstrap& bootstrap) {
    Processors const mine = own_processors(bootstrap);
    std::map<Rank, Node> nodes;
    for (Blob const& blob : bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        Processors processors;
        if (blob.size() != sizeof processors) {
            throw Error("a rank told its processors in another size");
        }
        std::memcpy(&processors, blob.data(), sizeof processors);
        Node& node = nodes[processors.node_leader];
        ++node.ranks;
        CPU_OR(&node.units, &node.units, &processors.units);
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
