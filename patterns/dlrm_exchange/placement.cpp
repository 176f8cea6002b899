// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/placement.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace dlmb::dlrm_exchange {

std::vector<std::size_t> round_robin(std::size_t items, std::size_t ranks) {
    std::vector<std::size_t> rank_of(items);
    for (std::size_t item = 0; item < items; ++item) {
        rank_of[item] = item % ranks;
    }
    return rank_of;
}

std::vector<std::size_t> longest_first(std::span<std::uint64_t const> loads, std::size_t ranks) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    using Filled = std::pair<std::uint64_t, std::size_t>;  // load, rank
    std::priority_queue<Filled, std::vector<Filled>, std::greater<>> least;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        least.emplace(0, rank);
    }
    std::vector<std::size_t> rank_of(loads.size());
    for (std::size_t const item : order) {
        auto const [load, rank] = least.top();
        least.pop();
        rank_of[item] = rank;
        least.emplace(load + loads[item], rank);
    }
    return rank_of;
}

}  // namespace dlmb::dlrm_exchange
