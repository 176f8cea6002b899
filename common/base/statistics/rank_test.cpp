// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/statistics/rank_test.hpp"

#include "common/base/statistics/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dlmb::statistics {
namespace {

/// Entry s: the share of all choices of signs in which the ranks with a plus add up to s.
std::vector<double> positive_sums(std::vector<std::uint64_t> const& ranks) {
    std::uint64_t const total = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
    std::vector<double> share(total + 1, 0);
    share[0] = 1;
    for (std::uint64_t const rank : ranks) {
        for (std::uint64_t sum = total + 1; sum-- > 0;) {
            share[sum] = (share[sum] + (sum >= rank ? share[sum - rank] : 0)) / 2;
        }
    }
    return share;
}

/// How many of the smallest and of the largest means of two lie outside the interval: the largest number that leaves
/// each tail at most 2.5 %, of the distribution without ties.
std::size_t outside(std::size_t launches) {
    constexpr double tail = 0.025;
    std::vector<std::uint64_t> ranks(launches);
    std::iota(ranks.begin(), ranks.end(), std::uint64_t{1});
    double below = 0;
    std::size_t count = 0;
    for (double const share : positive_sums(ranks)) {
        below += share;
        if (below > tail) {
            break;
        }
        ++count;
    }
    return count;
}

}  // namespace

double probability_by_chance(std::span<double const> ratios) {
    std::vector<double> logarithms;
    std::vector<double> sizes;
    for (double const ratio : ratios) {
        if (ratio != 1) {
            logarithms.push_back(std::log(ratio));
            sizes.push_back(std::abs(logarithms.back()));
        }
    }
    std::vector<std::uint64_t> const ranks = doubled_midranks(sizes);
    std::uint64_t observed = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        observed += logarithms[i] > 0 ? ranks[i] : 0;
    }
    std::vector<double> const share = positive_sums(ranks);
    return std::accumulate(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(observed) + 1, 0.0);
}

Ratio ratio_of(std::span<double const> ratios) {
    std::vector<double> means;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        for (std::size_t j = i; j < ratios.size(); ++j) {
            means.push_back((std::log(ratios[i]) + std::log(ratios[j])) / 2);
        }
    }
    std::sort(means.begin(), means.end());
    double const estimate = std::exp(median(means));
    std::size_t const cut = outside(ratios.size());
    if (cut == 0) {
        return {estimate, 0, std::numeric_limits<double>::infinity()};
    }
    return {estimate, std::exp(means[cut - 1]), std::exp(means[means.size() - cut])};
}

std::vector<bool> discoveries(std::span<double const> probabilities, double q) {
    std::vector<double> sorted(probabilities.begin(), probabilities.end());
    std::sort(sorted.begin(), sorted.end());
    double largest = -1;  // that is significant
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        double const limit = q * static_cast<double>(i + 1) / static_cast<double>(sorted.size());
        largest = sorted[i] <= limit ? sorted[i] : largest;
    }
    std::vector<bool> significant;
    for (double const probability : probabilities) {
        significant.push_back(probability <= largest);
    }
    return significant;
}

}  // namespace dlmb::statistics
