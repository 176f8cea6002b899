// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/realised.hpp"

#include "common/base/error.hpp"
#include "common/sizes/inequality.hpp"

#include <fmt/core.h>

#include <numeric>

namespace dlmb::moe_alltoall {
namespace {

// Places of the totals in the vector; expert loads and then rank loads follow.
enum Total : std::size_t { tokens, rows, rows_relayed, rows_dropped, token_ranks, token_nodes, totals };

std::uint64_t sum(std::vector<std::uint64_t> const& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

std::vector<std::uint64_t> tally(Params const& params, std::span<Census const> layers) {
    std::vector<std::uint64_t> counts(totals);
    for (Census const& census : layers) {
        std::uint64_t const to_ranks = sum(rows_to_ranks(params, census));
        std::uint64_t const to_nodes = sum(census.node_tokens);
        counts[tokens] += params.tokens;
        counts[rows] += params.relayed() ? to_nodes : to_ranks;
        counts[rows_relayed] += params.relayed() ? to_ranks : 0;
        counts[rows_dropped] += dropped(params, census);
        counts[token_ranks] += sum(census.rank_tokens);
        counts[token_nodes] += to_nodes;
    }
    Census const& first = layers.front();
    counts.insert(counts.end(), first.expert_rows.begin(), first.expert_rows.end());
    std::vector<std::uint64_t> const loads = rows_to_ranks(params, first);
    counts.insert(counts.end(), loads.begin(), loads.end());
    return counts;
}

std::vector<Statistic> realised(Params const& params, WorldShape const& world, std::span<std::uint64_t const> summed) {
    if (summed.size() != totals + params.experts + params.ep) {
        throw Error(fmt::format("moe_alltoall: {} counts in the statistics, expected {}", summed.size(),
                                totals + params.experts + params.ep));
    }
    auto const per_token = [&](Total total) {
        return summed[tokens] == 0 ? 0 : static_cast<double>(summed[total]) / static_cast<double>(summed[tokens]);
    };
    auto const experts = summed.subspan(totals, params.experts);
    auto const ranks = summed.subspan(totals + params.experts, params.ep);
    std::vector<Statistic> statistics{
        {"gini_expert", gini(experts)},
        {"max_mean_expert", max_over_mean(experts)},
        {"gini_rank", gini(ranks)},
        {"max_mean_rank", max_over_mean(ranks)},
        {"rows_total", static_cast<double>(summed[rows])},
        {"ranks_per_token", per_token(token_ranks)},
    };
    if (world.ranks_per_node > 0) {
        statistics.push_back({"nodes_per_token", per_token(token_nodes)});
    }
    if (params.relayed()) {
        statistics.push_back({"rows_relayed", static_cast<double>(summed[rows_relayed])});
    }
    if (params.wire == Wire::padded) {
        statistics.push_back({"dropped_tokens", static_cast<double>(summed[rows_dropped])});
    }
    return statistics;
}

}  // namespace dlmb::moe_alltoall
