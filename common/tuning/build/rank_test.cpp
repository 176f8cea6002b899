// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/build/rank_test.hpp"

#include "common/measure/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace dlmb::tuning {
namespace {

/// Twice the rank of each value among all, equal values sharing their mean rank: integers.
std::vector<std::uint64_t> doubled_midranks(std::vector<double> const& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<std::uint64_t> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) {
            ++last;
        }
        for (std::size_t i = first; i <= last; ++i) {
            ranks[order[i]] = first + last + 2;
        }
        first = last + 1;
    }
    return ranks;
}

/// ways[k][s]: subsets of k ranks with sum s. Doubles: exact below 2^53 and far beyond what is needed above.
std::vector<std::vector<double>> subsets_by_sum(std::vector<std::uint64_t> const& ranks, std::size_t most) {
    std::uint64_t const total = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
    std::vector<std::vector<double>> ways(most + 1, std::vector<double>(total + 1, 0));
    ways[0][0] = 1;
    for (std::uint64_t const rank : ranks) {
        for (std::size_t k = most; k > 0; --k) {
            for (std::uint64_t sum = total; sum >= rank; --sum) {
                ways[k][sum] += ways[k - 1][sum - rank];
            }
        }
    }
    return ways;
}

/// How many of the smallest and of the largest differences lie outside the interval: the largest number that leaves
/// each tail at most 2.5 %, of the distribution without ties.
std::size_t outside(std::size_t candidates, std::size_t references) {
    constexpr double tail = 0.025;
    double below = 0;
    std::size_t count = 0;
    for (double const share : measure::pair_distribution(references, candidates)) {
        below += share;
        if (below > tail) {
            break;
        }
        ++count;
    }
    return count;
}

}  // namespace

double probability_of_luck(std::span<double const> candidate, std::span<double const> reference) {
    if (candidate.empty() || reference.empty()) {
        return 1;
    }
    std::vector<double> all(candidate.begin(), candidate.end());
    all.insert(all.end(), reference.begin(), reference.end());
    std::vector<std::uint64_t> const ranks = doubled_midranks(all);
    auto const end = ranks.begin() + static_cast<std::ptrdiff_t>(candidate.size());
    std::uint64_t const observed = std::accumulate(ranks.begin(), end, std::uint64_t{0});
    std::vector<double> const ways = subsets_by_sum(ranks, candidate.size())[candidate.size()];
    double const as_low = std::accumulate(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(observed) + 1, 0.0);
    return as_low / std::accumulate(ways.begin(), ways.end(), 0.0);
}

Ratio ratio_of(std::span<double const> candidate, std::span<double const> reference) {
    std::vector<double> differences;
    for (double const c : candidate) {
        for (double const r : reference) {
            differences.push_back(std::log(c / r));
        }
    }
    std::sort(differences.begin(), differences.end());
    std::size_t const n = differences.size();
    double const middle = (differences[(n - 1) / 2] + differences[n / 2]) / 2;
    std::size_t const cut = outside(candidate.size(), reference.size());
    if (cut == 0) {
        return {std::exp(middle), 0, std::numeric_limits<double>::infinity()};
    }
    return {std::exp(middle), std::exp(differences[cut - 1]), std::exp(differences[n - cut])};
}

std::vector<bool> discoveries(std::span<double const> probabilities, double q) {
    std::vector<std::size_t> order(probabilities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return probabilities[a] < probabilities[b]; });
    std::size_t found = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        double const limit = q * static_cast<double>(i + 1) / static_cast<double>(order.size());
        found = probabilities[order[i]] <= limit ? i + 1 : found;
    }
    std::vector<bool> significant(probabilities.size(), false);
    for (std::size_t i = 0; i < found; ++i) {
        significant[order[i]] = true;
    }
    return significant;
}

}  // namespace dlmb::tuning
