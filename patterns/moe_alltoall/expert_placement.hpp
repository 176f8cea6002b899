// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks of an expert-parallel group have which experts of one layer, and what moves when that changes.
#pragma once

#include "patterns/moe_alltoall/params.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

class ExpertPlacement {
public:
    /// By expert the ranks of the group that have it, at least one each.
    ExpertPlacement(ExpertRanks ranks_of, std::size_t ep);

    /// Where a token goes for this expert: replicas take a source's tokens in turn.
    [[nodiscard]] std::size_t rank_for(std::size_t expert, std::uint64_t token) const {
        std::vector<std::size_t> const& ranks = ranks_of_[expert];
        return ranks.size() == 1 ? ranks.front() : ranks[token % ranks.size()];
    }
    [[nodiscard]] std::span<std::size_t const> ranks_of(std::size_t expert) const { return ranks_of_[expert]; }
    /// Experts and replicas on a rank.
    [[nodiscard]] std::uint64_t held_by(std::size_t rank) const { return held_[rank]; }
    /// The experts there, each once, in order.
    [[nodiscard]] std::span<std::size_t const> experts_of(std::size_t rank) const { return experts_of_[rank]; }
    [[nodiscard]] std::size_t experts() const { return ranks_of_.size(); }

private:
    ExpertRanks ranks_of_;
    std::vector<std::vector<std::size_t>> experts_of_;  // by rank
    std::vector<std::uint64_t> held_;                   // by rank
};

/// `loads`: what each expert is expected to receive.
[[nodiscard]] ExpertPlacement place_experts(Params const& params, PlacementRule const& rule,
                                            std::span<std::uint64_t const> loads);

/// Experts that one rank sends to and receives from each rank so that `before` becomes `after`. What is there already
/// stays; else the ranks that had the expert send it in turn.
struct MovedExperts {
    std::vector<std::uint64_t> sent;
    std::vector<std::uint64_t> received;
};
[[nodiscard]] MovedExperts moved_experts(ExpertPlacement const& before, ExpertPlacement const& after, std::size_t rank,
                                         std::size_t ep);

}  // namespace dlmb::moe_alltoall
