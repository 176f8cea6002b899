// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Top-k experts of a token, drawn by weight without replacement: expert e gets the score -ln(u) / w_e, and the k lowest
// scores win. With equal weights every set of k is equally likely.
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

class TopkSampling {
public:
    TopkSampling(Params const& params, std::vector<double> const& weights, RoutingKey key);

    /// Experts of the next token, lowest score first. Valid until the next call.
    [[nodiscard]] std::span<std::size_t const> next();

private:
    struct Scored {
        double score;
        std::size_t expert;
    };
    void draw_words();
    [[nodiscard]] double score_of(std::size_t expert) const;
    void scan(std::size_t begin, std::size_t end);
    [[nodiscard]] double group_score(std::size_t group) const;
    void choose_groups();

    std::size_t top_k_;
    std::size_t groups_;
    std::size_t group_limit_;
    GroupScore group_score_;
    RoutingKey key_;
    std::uint32_t token_ = 0;
    std::vector<double> inverse_weights_;
    std::vector<std::uint32_t> words_;
    std::vector<double> least_scores_;  // no score is below
    std::vector<Scored> best_;          // the lowest so far, ascending
    std::vector<Scored> group_order_;   // groups by score
    std::vector<std::size_t> chosen_;
};

}  // namespace dlmb::moe_alltoall
