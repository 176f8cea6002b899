// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/statistics/detection.hpp"

#include "common/base/exact_math.hpp"
#include "common/base/philox.hpp"
#include "common/measure/statistics/order_statistics.hpp"
#include "common/measure/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace dlmb::measure {
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

Detection::Detection(std::size_t launches, double alpha) {
    std::optional<std::size_t> const critical = critical_pairs(launches, launches, alpha);
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

double Detection::needed(Trial const& trial, double spread, double margin) {
    return std::max(spread * trial.until_significant, std::log1p(margin) - spread * trial.estimate);
}

double Detection::power(double spread, double margin, double slowdown) const {
    auto const found = std::count_if(trials_.begin(), trials_.end(), [&](Trial const& trial) {
        return needed(trial, spread, margin) <= std::log1p(slowdown);
    });
    return trials_.empty() ? 0 : static_cast<double>(found) / static_cast<double>(trials_.size());
}

std::optional<double> Detection::least_slowdown(double spread, double margin, double power) const {
    if (trials_.empty()) {
        return std::nullopt;
    }
    std::vector<double> moves;
    moves.reserve(trials_.size());
    for (Trial const& trial : trials_) {
        moves.push_back(needed(trial, spread, margin));
    }
    std::sort(moves.begin(), moves.end());
    auto const rank = static_cast<std::size_t>(std::ceil(power * static_cast<double>(moves.size())));
    return std::expm1(moves[std::clamp<std::size_t>(rank, 1, moves.size()) - 1]);
}

double log_spread(std::span<double const> values) {
    std::vector<double> logs;
    for (double const value : values) {
        logs.push_back(std::log(value));
    }
    auto const n = static_cast<double>(logs.size());
    double const mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
    double squares = 0;
    for (double const value : logs) {
        squares += (value - mean) * (value - mean);
    }
    return std::sqrt(squares / (n - 1));
}

double spread_bound(std::size_t count) {
    constexpr double confidence = 0.9;
    double const f = static_cast<double>(count) - 1;
    double const root = 1 - 2 / (9 * f) + exact::normal_quantile(1 - confidence) * std::sqrt(2 / (9 * f));
    return 1 / std::sqrt(root * root * root);  // chi^2 is f root^3
}

}  // namespace dlmb::measure
