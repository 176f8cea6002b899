// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/oktopk.hpp"

#include <algorithm>
#include <numeric>

namespace dlmb::sparse_allreduce {
namespace {

// Repository Ok-Topk, VGG/allreducer.py and BERT: the factors, and the counts over k beyond which they are applied.
constexpr double local_factor = 1.012;
constexpr double global_factor = 1.008;
constexpr double too_few_picks = 2.0 / 3;
constexpr double too_few_results = 4.0 / 5;
constexpr double too_many = 5.0 / 4;

double corrected(double threshold, std::size_t count, std::size_t k, double too_few, double factor) {
    auto const wanted = static_cast<double>(k);
    auto const found = static_cast<double>(count);
    return found < too_few * wanted ? threshold / factor : found > too_many * wanted ? threshold * factor : threshold;
}

}  // namespace

bool estimates(Params const& params, std::uint32_t iteration) {
    return iteration % params.threshold_every == 0;
}

bool partitions(Params const& params, std::uint32_t iteration) {
    return params.balanced && params.ranks > 1 && iteration % params.boundaries_every == 0;
}

SparseVector select(Params const& params, bool estimate, std::span<SparseEntry const> gradients,
                    Thresholds& thresholds) {
    if (estimate) {
        SparseVector picks = largest(gradients, params.k);
        thresholds.local = least_magnitude(picks);
        return picks;
    }
    SparseVector picks = at_least(gradients, thresholds.local);
    thresholds.local = corrected(thresholds.local, picks.size(), params.k, too_few_picks, local_factor);
    return picks;
}

std::vector<std::uint64_t> equal_count_bounds(Params const& params, std::span<SparseEntry const> picks) {
    std::vector<std::uint64_t> bounds;
    for (std::size_t region = 1; region < params.ranks; ++region) {
        bounds.push_back(picks.empty() ? params.elements * region / params.ranks
                                       : picks[picks.size() * region / params.ranks].index);
    }
    return bounds;
}

Regions regions_of(Params const& params, std::span<std::uint64_t const> sums) {
    Regions regions{0};
    for (std::uint64_t const sum : sums) {
        regions.push_back(sum / params.ranks);
    }
    regions.push_back(params.elements);
    return regions;
}

Regions equal_width_regions(Params const& params) {
    Regions regions;
    for (std::size_t region = 0; region <= params.ranks; ++region) {
        regions.push_back(params.elements * region / params.ranks);
    }
    return regions;
}

void correct_global(Params const& params, bool estimate, std::span<SparseEntry const> result, Thresholds& thresholds) {
    thresholds.global = estimate
                            ? least_magnitude(result)
                            : corrected(thresholds.global, result.size(), params.k, too_few_results, global_factor);
}

std::vector<EntryMove> even_parts(Params const& params, std::span<std::size_t const> counts) {
    std::size_t const total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    std::size_t const most = *std::max_element(counts.begin(), counts.end());
    double const mean = static_cast<double>(total) / static_cast<double>(counts.size());
    std::vector<EntryMove> moves;
    if (!params.balanced || static_cast<double>(most) <= params.balance_above * mean) {
        return moves;
    }
    std::size_t begin = 0;
    for (std::size_t from = 0; from < counts.size(); ++from) {
        std::size_t const end = begin + counts[from];
        for (std::size_t to = 0; to < counts.size(); ++to) {
            std::size_t const first = std::max(begin, total * to / counts.size());
            std::size_t const last = std::min(end, total * (to + 1) / counts.size());
            if (from != to && first < last) {
                moves.push_back({from, to, first, last - first});
            }
        }
        begin = end;
    }
    return moves;
}

}  // namespace dlmb::sparse_allreduce
