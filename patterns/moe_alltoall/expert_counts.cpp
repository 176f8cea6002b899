// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/expert_counts.hpp"

#include <limits>

namespace dlmb::moe_alltoall {
namespace {

/// Counts a bin at most once per token.
class OncePerToken {
public:
    explicit OncePerToken(std::size_t bins) : counts_(bins), last_(bins, std::numeric_limits<std::uint64_t>::max()) {}
    void count(std::size_t bin, std::uint64_t token) {
        if (last_[bin] != token) {
            last_[bin] = token;
            ++counts_[bin];
        }
    }
    [[nodiscard]] std::vector<std::uint64_t> take() { return std::move(counts_); }

private:
    std::vector<std::uint64_t> counts_;
    std::vector<std::uint64_t> last_;
};

}  // namespace

ExpertCounter::ExpertCounter(Params const& params, WorldShape const& world, Rank source)
    : params_(params), source_(source), owner_of_expert_(owners_of_experts(params)) {
    auto const ep = static_cast<Rank>(params.ep);
    Rank const first = source / ep * ep;
    for (Rank peer = 0; peer < ep; ++peer) {
        node_of_rank_.push_back(static_cast<std::size_t>(world.node_of(first + peer) - world.node_of(first)));
    }
}

ExpertCounts ExpertCounter::count(Routing const& routing, Draw draw, std::uint32_t layer) {
    std::vector<std::uint64_t> expert_rows(params_.experts);
    OncePerToken ranks(params_.ep);
    OncePerToken nodes(node_of_rank_.back() + 1);
    std::uint64_t token = 0;
    routing.for_each_token(source_, draw, layer, [&](std::span<std::size_t const> experts) {
        for (std::size_t const expert : experts) {
            ++expert_rows[expert];
            std::size_t const rank = owner_of_expert_[expert];
            ranks.count(rank, token);
            nodes.count(node_of_rank_[rank], token);
        }
        ++token;
    });
    return {std::move(expert_rows), ranks.take(), nodes.take()};
}

std::vector<std::uint64_t> rows_to_ranks(Params const& params, ExpertCounts const& counts) {
    if (params.wire == Wire::rank_dedup || params.wire == Wire::node_dedup) {
        return counts.rank_tokens;
    }
    std::uint64_t const slots = capacity(params.tokens, params.experts, params.top_k, params.capacity_rule);
    std::vector<std::uint64_t> rows(params.ep);
    for (std::size_t rank = 0; rank < params.ep; ++rank) {
        for (std::size_t expert = params.first_expert(rank); expert < params.first_expert(rank + 1); ++expert) {
            rows[rank] += params.wire == Wire::padded ? slots : counts.expert_rows[expert];
        }
    }
    return rows;
}

std::uint64_t dropped(Params const& params, ExpertCounts const& counts) {
    if (params.wire != Wire::padded) {
        return 0;
    }
    std::uint64_t const slots = capacity(params.tokens, params.experts, params.top_k, params.capacity_rule);
    std::uint64_t excess = 0;
    for (std::uint64_t const rows : counts.expert_rows) {
        excess += rows > slots ? rows - slots : 0;
    }
    return excess;
}

}  // namespace dlmb::moe_alltoall
