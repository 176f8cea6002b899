// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Top-k experts of a token as a weighted race: expert e finishes at -ln(u) / w_e, the first k are chosen. This is
// weighted drawing without replacement; with equal weights every set of k is equally likely.
#pragma once

#include "patterns/moe_alltoall/params.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// Where in the random numbers a source's routing of one layer is.
struct RoutingKey {
    std::uint64_t seed = 1;
    std::uint32_t draw = 0;
    std::uint32_t source = 0;
    std::uint32_t layer = 0;
};

class Race {
public:
    Race(Params const& params, std::vector<double> const& weights, RoutingKey key);

    /// Experts of the next token, in order of arrival. Valid until the next call.
    [[nodiscard]] std::span<std::size_t const> next();

private:
    struct Runner {
        double time;
        std::size_t expert;
    };
    void throw_dice();
    [[nodiscard]] double arrival(std::size_t expert) const;
    void run(std::size_t begin, std::size_t end);
    [[nodiscard]] double group_time(std::size_t group) const;
    void choose_groups();

    std::size_t top_k_;
    std::size_t groups_;
    std::size_t group_limit_;
    GroupScore group_score_;
    RoutingKey key_;
    std::uint32_t token_ = 0;
    std::vector<double> inverse_weights_;
    std::vector<std::uint32_t> words_;
    std::vector<double> earliest_;     // no expert arrives before this
    std::vector<Runner> first_;        // the earliest so far, ascending
    std::vector<Runner> group_order_;  // groups by their time
    std::vector<std::size_t> chosen_;
};

}  // namespace dlmb::moe_alltoall
