// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/statistics/rank_test.hpp"

#include "common/base/exact_math.hpp"
#include "common/base/philox.hpp"
#include "common/base/statistics/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
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

namespace {

constexpr std::size_t simulated_trials = 4000;  // a power of 0.8 is then known to 0.013
constexpr std::uint64_t draw_seed = 20260131;

/// Candidate minus baseline of every pair, largest first.
std::vector<double> differences(RandomSequence& random, std::size_t launches) {
    std::vector<double> launch(2 * launches);
    for (double& value : launch) {
        value = exact::normal_quantile(to_unit(random.next()));
    }
    std::vector<double> all;
    for (std::size_t b = 0; b < launches; ++b) {
        for (std::size_t c = launches; c < 2 * launches; ++c) {
            all.push_back(launch[c] - launch[b]);
        }
    }
    std::sort(all.begin(), all.end(), std::greater<>());
    return all;
}

}  // namespace

Detection::Detection(std::size_t launches) {
    std::optional<std::size_t> const critical = critical_pairs(launches, launches, usual_alpha);
    if (!critical || *critical == 0) {
        return;
    }
    RandomSequence random(draw_seed, 0, static_cast<std::uint32_t>(launches), 0);
    for (std::size_t i = 0; i < simulated_trials; ++i) {
        std::vector<double> const all = differences(random, launches);
        // Moved by m, the candidate wins the pairs with difference + m > 0: enough once the critical one does.
        trials_.push_back({-all[*critical - 1], median(all)});
    }
}

std::optional<double> Detection::least_slowdown(double spread, double margin, double power) const {
    if (trials_.empty()) {
        return std::nullopt;
    }
    std::vector<double> moves;
    moves.reserve(trials_.size());
    for (Trial const& trial : trials_) {
        moves.push_back(std::max(spread * trial.until_significant, std::log1p(margin) - spread * trial.estimate));
    }
    std::sort(moves.begin(), moves.end());
    auto const rank = static_cast<std::size_t>(std::ceil(power * static_cast<double>(moves.size())));
    return std::expm1(moves[std::clamp<std::size_t>(rank, 1, moves.size()) - 1]);
}

double log_spread(std::span<double const> values) {
    auto const n = static_cast<double>(values.size());
    double sum = 0;
    for (double const value : values) {
        sum += std::log(value);
    }
    double squares = 0;
    for (double const value : values) {
        squares += std::pow(std::log(value) - sum / n, 2);
    }
    return std::sqrt(squares / (n - 1));
}

double spread_bound(std::size_t count) {
    constexpr double one_sided_confidence = 0.9;
    double const f = static_cast<double>(count) - 1;
    double const root = 1 - 2 / (9 * f) + exact::normal_quantile(1 - one_sided_confidence) * std::sqrt(2 / (9 * f));
    return 1 / std::sqrt(root * root * root);  // chi^2 is f root^3
}

}  // namespace dlmb::statistics
