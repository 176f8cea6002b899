// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/realised.hpp"

#include "common/base/error.hpp"
#include "common/sizes/inequality.hpp"
#include "patterns/dlrm_exchange/assembly.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace dlmb::dlrm_exchange {
namespace {

double sum(std::span<std::uint64_t const> counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

double largest(std::span<std::uint64_t const> counts) {
    return static_cast<double>(*std::max_element(counts.begin(), counts.end()));
}

/// By rank: pooled bytes passed to the API in the forward pass, reduce-scatter of row-wise tables included.
Counts pooled_sent(Params const& params, Volumes const& volumes) {
    Bytes const row_wise = volumes.row_wise_values() * size_of(reduced_element(params));
    Counts bytes(params.ranks, row_wise);
    for (std::size_t source = 0; source < params.ranks; ++source) {
        bytes[source] += volumes.pooled_sent(source) * size_of(params.forward_element);
    }
    return bytes;
}

}  // namespace

std::vector<std::uint64_t> tally(Params const& params, std::size_t source, Counts const& indices_sent) {
    std::vector<std::uint64_t> counts(params.ranks);
    counts[source] = std::accumulate(indices_sent.begin(), indices_sent.end(), std::uint64_t{0});
    counts.insert(counts.end(), indices_sent.begin(), indices_sent.end());
    return counts;
}

std::vector<Statistic> realised(Params const& params, Volumes const& volumes, std::span<std::uint64_t const> summed) {
    if (summed.size() != 2 * params.ranks) {
        throw Error(
            fmt::format("dlrm_exchange: {} counts in the statistics, expected {}", summed.size(), 2 * params.ranks));
    }
    auto const sent = summed.first(params.ranks);
    auto const received = summed.subspan(params.ranks);
    Counts const pooled = pooled_sent(params, volumes);
    Counts shards(params.ranks);
    for (std::size_t rank = 0; rank < params.ranks; ++rank) {
        shards[rank] = volumes.shards_on(rank);
    }
    auto const index_bytes = static_cast<double>(size_of(params.index_element));
    return {
        {"index_bytes_total", sum(sent) * index_bytes},
        {"max_mean_index_sent", max_over_mean(sent)},
        {"max_mean_index_received", max_over_mean(received)},
        {"pooled_bytes_total", sum(pooled)},
        {"max_mean_pooled_sent", max_over_mean(pooled)},
        {"max_shards_rank", largest(shards)},
        {"mean_shards_rank", sum(shards) / static_cast<double>(params.ranks)},
        {"row_wise_tables", static_cast<double>(params.layout.row_wise.size())},
        {"replicated_tables", static_cast<double>(params.layout.replicated.size())},
    };
}

}  // namespace dlmb::dlrm_exchange
