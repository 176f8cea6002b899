// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/clock.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/calibrate.hpp"
#include "common/measure/nodes.hpp"
#include "common/measure/statistics.hpp"

#include <algorithm>
#include <limits>

namespace dlmb::measure {
namespace {

constexpr std::size_t batch_barriers = 5;
constexpr std::size_t most_barriers = 1000;
constexpr std::size_t most_numbers = 200'000;  // in one reduction: two per node and barrier
constexpr Nanoseconds nothing = std::numeric_limits<Nanoseconds>::min();

/// When this rank left each barrier; the first of them starts the count. Rank 0 says when it is enough.
std::vector<Nanoseconds> leave_barriers(Bootstrap& bootstrap, std::size_t most, Nanoseconds limit_ns) {
    std::vector<Nanoseconds> exits;
    exits.reserve(most + batch_barriers);
    Nanoseconds const end = now_ns() + limit_ns;
    do {
        for (std::size_t i = 0; i < batch_barriers; ++i) {
            bootstrap.barrier();
            exits.push_back(now_ns());
        }
    } while (from_rank(bootstrap, exits.size() < most && now_ns() < end));
    return exits;
}

/// Of each barrier but the first of a batch, which follows the talk about going on.
std::vector<Nanoseconds> durations_of(std::vector<Nanoseconds> const& exits) {
    std::vector<Nanoseconds> durations;
    for (std::size_t i = 1; i < exits.size(); ++i) {
        if (i % batch_barriers != 0) {
            durations.push_back(exits[i] - exits[i - 1]);
        }
    }
    return durations;
}

/// Collective. Last minus first exit of each barrier, largest over nodes.
std::vector<Nanoseconds> exit_skews(Bootstrap& bootstrap, Nodes const& nodes, std::vector<Nanoseconds> const& exits) {
    std::size_t const per_node = 2 * exits.size();  // latest, and the negative of the earliest: both are maxima
    std::vector<Nanoseconds> ends(nodes.leaders.size() * per_node, nothing);
    for (std::size_t i = 0; i < exits.size(); ++i) {
        ends[nodes.mine * per_node + 2 * i] = exits[i];
        ends[nodes.mine * per_node + 2 * i + 1] = -exits[i];
    }
    bootstrap.all_reduce(ends, Fold::max);
    std::vector<Nanoseconds> skews(exits.size(), 0);
    for (std::size_t node = 0; node < nodes.leaders.size(); ++node) {
        for (std::size_t i = 0; i < exits.size(); ++i) {
            std::size_t const at = node * per_node + 2 * i;
            skews[i] = std::max(skews[i], ends[at] + ends[at + 1]);
        }
    }
    return skews;
}

}  // namespace

BarrierFloor calibrate_barrier(Bootstrap& bootstrap, Nanoseconds limit_ns) {
    Nodes const nodes = find_nodes(bootstrap);
    std::size_t const most = std::clamp(most_numbers / (2 * nodes.leaders.size()), batch_barriers, most_barriers);
    std::vector<Nanoseconds> const exits = leave_barriers(bootstrap, most, limit_ns);
    std::vector<Nanoseconds> durations = durations_of(exits);
    bootstrap.all_reduce(durations, Fold::max);
    BarrierFloor floor{exits.size(), median(durations), std::nullopt};
    if (nodes.leaders.size() < static_cast<std::size_t>(bootstrap.size())) {  // two ranks on one of them
        std::vector<Nanoseconds> skews = exit_skews(bootstrap, nodes, exits);
        std::sort(skews.begin(), skews.end());
        floor.exit_skew = {static_cast<double>(nearest_rank(skews, 50)), static_cast<double>(nearest_rank(skews, 99))};
    }
    return floor;
}

}  // namespace dlmb::measure
