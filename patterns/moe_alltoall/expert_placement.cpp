// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/expert_placement.hpp"

#include "patterns/moe_alltoall/eplb.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::moe_alltoall {

ExpertPlacement::ExpertPlacement(ExpertRanks ranks_of, std::size_t ep)
    : ranks_of_(std::move(ranks_of)), experts_of_(ep), held_(ep) {
    for (std::size_t expert = 0; expert < ranks_of_.size(); ++expert) {
        for (std::size_t const rank : ranks_of_[expert]) {
            ++held_[rank];
            if (experts_of_[rank].empty() || experts_of_[rank].back() != expert) {
                experts_of_[rank].push_back(expert);
            }
        }
    }
}

ExpertPlacement place_experts(Params const& params, PlacementRule const& rule, std::span<std::uint64_t const> loads) {
    if (rule.kind == PlacementRule::Kind::file) {
        return ExpertPlacement(params.placement_file, params.ep);
    }
    ExpertRanks ranks_of(params.experts);
    if (rule.kind == PlacementRule::Kind::eplb) {
        std::size_t const replicas = params.experts + params.redundant_experts;
        std::vector<std::size_t> const placed =
            eplb(loads, {replicas, params.expert_groups, params.eplb_nodes, params.ep});
        for (std::size_t i = 0; i < replicas; ++i) {
            ranks_of[placed[i]].push_back(i / (replicas / params.ep));
        }
        return ExpertPlacement(std::move(ranks_of), params.ep);
    }
    std::vector<std::size_t> const neighbours = owners_of_experts(params);
    std::vector<PlacedUnit> units;
    for (std::size_t expert = 0; expert < params.experts; ++expert) {
        units.push_back({neighbours[expert], loads[expert]});
    }
    std::vector<std::size_t> const rank_of = place(rule, units, params.ep);
    for (std::size_t expert = 0; expert < params.experts; ++expert) {
        ranks_of[expert] = {rank_of[expert]};
    }
    return ExpertPlacement(std::move(ranks_of), params.ep);
}

MovedExperts moved_experts(ExpertPlacement const& before, ExpertPlacement const& after, std::size_t rank,
                           std::size_t ep) {
    MovedExperts moved{std::vector<std::uint64_t>(ep), std::vector<std::uint64_t>(ep)};
    for (std::size_t expert = 0; expert < after.experts(); ++expert) {
        std::span<std::size_t const> const had = before.ranks_of(expert);
        std::span<std::size_t const> const gets = after.ranks_of(expert);
        for (std::size_t i = 0; i < gets.size(); ++i) {
            bool const known = std::find(had.begin(), had.end(), gets[i]) != had.end() ||
                               std::find(gets.begin(), gets.begin() + static_cast<std::ptrdiff_t>(i), gets[i]) !=
                                   gets.begin() + static_cast<std::ptrdiff_t>(i);  // two replicas on one rank
            std::size_t const from = had[i % had.size()];
            if (known) {
                continue;
            }
            if (from == rank) {
                ++moved.sent[gets[i]];
            }
            if (gets[i] == rank) {
                ++moved.received[from];
            }
        }
    }
    return moved;
}

}  // namespace dlmb::moe_alltoall
