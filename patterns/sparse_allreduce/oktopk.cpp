// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/oktopk.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
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

/// How many of `values` have a larger magnitude than the k-th largest, and that one.
struct Cut {
    float magnitude = 0;
    std::size_t above = 0;
};

/// There are more than k.
Cut cut_at(std::span<float const> values, std::size_t k) {
    std::vector<float> magnitudes(values.size());
    std::transform(values.begin(), values.end(), magnitudes.begin(), [](float value) { return std::fabs(value); });
    auto const last = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>{});
    float const cut = *last;
    return {cut, static_cast<std::size_t>(
                     std::count_if(magnitudes.begin(), magnitudes.end(), [cut](float each) { return each > cut; }))};
}

}  // namespace

bool estimates(Params const& params, std::uint32_t iteration) {
    return iteration % params.threshold_every == 0;
}

bool partitions(Params const& params, std::uint32_t iteration) {
    return params.balanced && params.ranks > 1 && iteration % params.boundaries_every == 0;
}

SparseVector select(Params const& params, bool estimate, std::span<Entry const> gradients, Thresholds& thresholds) {
    if (estimate) {
        SparseVector picks = largest(gradients, params.k);
        thresholds.local = least_magnitude(picks);
        return picks;
    }
    SparseVector picks = at_least(gradients, thresholds.local);
    thresholds.local = corrected(thresholds.local, picks.size(), params.k, too_few_picks, local_factor);
    return picks;
}

std::vector<std::uint64_t> equal_count_bounds(Params const& params, std::span<Entry const> picks) {
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

SparseVector keep(Params const& params, std::span<Entry const> own, std::span<float const> gathered, std::size_t first,
                  Thresholds const& thresholds) {
    if (gathered.empty()) {
        return at_least(own, thresholds.global);
    }
    if (gathered.size() <= params.k) {
        return {own.begin(), own.end()};
    }
    // Regions ascend with ranks: of equal magnitudes at the cut, those of lower indices are the first ones gathered.
    Cut const cut = cut_at(gathered, params.k);
    std::size_t at_cut = params.k - cut.above;
    for (std::size_t i = 0; i < first; ++i) {
        if (at_cut > 0 && std::fabs(gathered[i]) == cut.magnitude) {
            --at_cut;
        }
    }
    SparseVector kept;
    for (Entry const& entry : own) {
        float const magnitude = std::fabs(entry.value);
        if (magnitude > cut.magnitude) {
            kept.push_back(entry);
        } else if (at_cut > 0 && magnitude == cut.magnitude) {
            kept.push_back(entry);
            --at_cut;
        }
    }
    return kept;
}

void correct_global(Params const& params, bool estimate, std::span<Entry const> result, Thresholds& thresholds) {
    thresholds.global = estimate
                            ? least_magnitude(result)
                            : corrected(thresholds.global, result.size(), params.k, too_few_results, global_factor);
}

std::size_t even_begin(std::size_t total, std::size_t part, std::size_t parts) {
    return total * part / parts;
}

std::vector<Move> even_parts(Params const& params, std::span<std::size_t const> counts) {
    std::size_t const total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    std::size_t const most = *std::max_element(counts.begin(), counts.end());
    double const mean = static_cast<double>(total) / static_cast<double>(counts.size());
    std::vector<Move> moves;
    if (!params.balanced || static_cast<double>(most) <= params.balance_above * mean) {
        return moves;
    }
    std::size_t begin = 0;
    for (std::size_t from = 0; from < counts.size(); ++from) {
        std::size_t const end = begin + counts[from];
        for (std::size_t to = 0; to < counts.size(); ++to) {
            std::size_t const first = std::max(begin, even_begin(total, to, counts.size()));
            std::size_t const last = std::min(end, even_begin(total, to + 1, counts.size()));
            if (from != to && first < last) {
                moves.push_back({from, to, first, last - first});
            }
        }
        begin = end;
    }
    return moves;
}

}  // namespace dlmb::sparse_allreduce
