// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The expert-parallel load balancer of DeepSeek (EPLB): hot experts get replicas, and replicas are packed so that ranks
// carry alike and all have the same number. Source: deepseek-ai/EPLB, eplb.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// Items by falling load, each into the least loaded of `packs` packs that still has room; the first on ties. Every
/// pack gets loads.size() / packs items, which must be whole.
struct ReplicaPacking {
    std::vector<std::size_t> pack_of;
    std::vector<std::size_t> place_of;  // in its pack, in the order of packing
};
[[nodiscard]] ReplicaPacking pack_evenly(std::span<double const> loads, std::size_t packs);

/// The input sizes of EPLB. `replicas` is a multiple of `ranks`, `ranks` and `replicas` are multiples of `nodes`.
struct EplbShape {
    std::size_t replicas = 0;  // experts and redundant experts
    std::size_t groups = 1;    // of neighbouring experts, which divide them
    std::size_t nodes = 1;
    std::size_t ranks = 1;
};

/// The expert of each place: places [r * replicas / ranks, (r + 1) * replicas / ranks) are those of rank r. Where nodes
/// divide groups, groups stay on one node; otherwise nodes and groups are left out of account.
[[nodiscard]] std::vector<std::size_t> eplb(std::span<std::uint64_t const> loads, EplbShape shape);

}  // namespace dlmb::moe_alltoall
