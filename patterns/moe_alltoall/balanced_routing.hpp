// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Balanced routing: experts are taken from shuffled lists that hold every expert once. So all experts of a source get
// the same count wherever tokens * top_k is a multiple of the experts, while each token's set is random.
#pragma once

#include "common/base/philox.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/topk_sampling.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// The values 0 .. size - 1, shuffled anew each time all are taken.
class ShuffledList {
public:
    explicit ShuffledList(std::size_t size);
    /// Appends `count` <= size values, which differ from each other.
    void take(std::size_t count, RandomSequence& random, std::vector<std::size_t>& result);

private:
    std::vector<std::size_t> values_;
    std::size_t used_ = 0;
};

class BalancedRouting {
public:
    BalancedRouting(Params const& params, RoutingKey key);

    /// Experts of the next token. With a group limit, groups are taken from a list of groups, and experts from the list
    /// of each group, top_k shared evenly. Valid until the next call.
    [[nodiscard]] std::span<std::size_t const> next();

private:
    std::size_t top_k_;
    std::size_t group_limit_;
    std::size_t group_size_;
    RandomSequence group_random_;
    RandomSequence expert_random_;
    ShuffledList groups_;
    std::vector<ShuffledList> experts_;  // one per group
    std::vector<std::size_t> chosen_groups_;
    std::vector<std::size_t> chosen_;
};

}  // namespace dlmb::moe_alltoall
