// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dlmb::measure {
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

// The largest of all values is the candidate's with probability c / (b + c), and then wins b pairs; else it is the
// baseline's and wins none (Mann and Whitney 1947, in probabilities instead of counts).
std::vector<double> pair_distribution(std::size_t baseline, std::size_t candidate) {
    std::vector<std::vector<double>> with(candidate + 1, std::vector<double>{1});  // by candidates, so far no baseline
    for (std::size_t b = 1; b <= baseline; ++b) {
        for (std::size_t c = 1; c <= candidate; ++c) {
            std::vector<double> next(b * c + 1, 0);
            auto const all = static_cast<double>(b + c);
            for (std::size_t u = 0; u < with[c].size(); ++u) {  // of b - 1 and c
                next[u] += with[c][u] * static_cast<double>(b) / all;
            }
            for (std::size_t u = 0; u < with[c - 1].size(); ++u) {  // of b and c - 1
                next[u + b] += with[c - 1][u] * static_cast<double>(c) / all;
            }
            with[c] = std::move(next);
        }
    }
    return with[candidate];
}

std::optional<std::size_t> critical_pairs(std::size_t baseline, std::size_t candidate, double alpha) {
    std::vector<double> const distribution = pair_distribution(baseline, candidate);
    std::optional<std::size_t> critical;
    double tail = 0;
    for (std::size_t u = distribution.size(); u-- > 0;) {
        tail += distribution[u];
        if (tail > alpha) {
            break;
        }
        critical = u;
    }
    return critical;
}

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
    std::size_t const n = means.size();
    double const middle = (means[(n - 1) / 2] + means[n / 2]) / 2;
    std::size_t const cut = outside(ratios.size());
    if (cut == 0) {
        return {std::exp(middle), 0, std::numeric_limits<double>::infinity()};
    }
    return {std::exp(middle), std::exp(means[cut - 1]), std::exp(means[n - cut])};
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

}  // namespace dlmb::measure
