// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/statistics/series.hpp"

#include "common/base/statistics/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace dlmb::statistics {
namespace {

constexpr std::size_t least_per_draw = 10;
constexpr std::size_t longest_lag = 1000;
constexpr std::size_t most_blocks = 100;
constexpr std::size_t least_for_flags = 30;
constexpr double large_change = 0.05;
constexpr double unlikely = 0.001;
constexpr double timer_reads = 20;
constexpr double clock_errors = 10;
// Limits of a split in two levels.
constexpr std::size_t least_values = 10;  // a tenth of them is one
constexpr double trimmed_at_each_end = 0.01;
constexpr double least_class = 0.1;
constexpr double least_share = 0.80;
constexpr double least_distance = 0.10;

/// Less their mean.
std::vector<double> centred_ranks(std::span<double const> values) {
    std::vector<double> centred;
    for (std::uint64_t const doubled : doubled_midranks(values)) {
        centred.push_back((static_cast<double>(doubled) - static_cast<double>(values.size() + 1)) / 2);
    }
    return centred;
}

/// The autocorrelation of the values' ranks, by lag; 0 where all are equal.
class RankAutocorrelation {
public:
    explicit RankAutocorrelation(std::span<double const> values)
        : centred_(centred_ranks(values)), variance_(product_sum(0)) {}

    double operator()(std::ptrdiff_t lag) const { return variance_ == 0 ? 0 : product_sum(lag) / variance_; }

private:
    /// The sum of products of entries that are `lag` apart.
    [[nodiscard]] double product_sum(std::ptrdiff_t lag) const {
        return std::inner_product(centred_.begin(), centred_.end() - lag, centred_.begin() + lag, 0.0);
    }

    std::vector<double> centred_;
    double variance_;
};

std::vector<double> trimmed_logarithms(std::span<double const> values) {
    std::vector<double> logs;
    logs.reserve(values.size());
    for (double const value : values) {
        logs.push_back(std::log(value));
    }
    std::sort(logs.begin(), logs.end());
    auto const left_out = static_cast<std::ptrdiff_t>(trimmed_at_each_end * static_cast<double>(logs.size()));
    return {logs.begin() + left_out, logs.end() - left_out};
}

}  // namespace

std::vector<double> without_draws(std::span<Nanoseconds const> samples, std::size_t draws) {
    std::vector<double> values(samples.begin(), samples.end());
    if (draws <= 1) {
        return values;
    }
    if (samples.size() < least_per_draw * draws) {
        return {};
    }
    for (std::size_t draw = 0; draw < draws; ++draw) {
        std::vector<Nanoseconds> own;
        for (std::size_t i = draw; i < samples.size(); i += draws) {
            own.push_back(samples[i]);
        }
        double const typical = std::max(1.0, median(own));
        for (std::size_t i = draw; i < values.size(); i += draws) {
            values[i] /= typical;
        }
    }
    return values;
}

double rank_lag1(std::span<double const> values) {
    return RankAutocorrelation(values)(1);
}

double effective_samples(std::span<double const> values) {
    RankAutocorrelation const correlation(values);
    auto const lags = static_cast<std::ptrdiff_t>(std::min(values.size(), longest_lag));
    double sum = 0;
    for (std::ptrdiff_t lag = 1; lag + 1 < lags; lag += 2) {
        double const pair = correlation(lag) + correlation(lag + 1);
        if (pair < 0) {
            break;
        }
        sum += pair;
    }
    return static_cast<double>(values.size()) / (1 + 2 * sum);
}

std::vector<double> block_medians(std::span<double const> values) {
    std::size_t const blocks = std::min(most_blocks, values.size());
    std::vector<double> medians;
    for (std::size_t block = 0; block < blocks; ++block) {
        std::size_t const begin = block * values.size() / blocks;
        std::size_t const end = (block + 1) * values.size() / blocks;
        medians.push_back(median(values.subspan(begin, end - begin)));
    }
    return medians;
}

double relative_drift(std::span<double const> values) {
    std::vector<double> const medians = block_medians(values);
    std::vector<double> slopes;
    for (std::size_t i = 0; i < medians.size(); ++i) {
        for (std::size_t j = i + 1; j < medians.size(); ++j) {
            slopes.push_back((medians[j] - medians[i]) / static_cast<double>(j - i));
        }
    }
    double const typical = slopes.empty() ? 0 : median(values);
    return typical > 0 ? median(slopes) * static_cast<double>(medians.size()) / typical : 0;
}

LevelStep find_step(std::span<double const> values) {
    std::vector<double> const centred = centred_ranks(values);
    LevelStep step;
    double largest = -1;
    double sum = 0;
    for (std::size_t i = 0; i + 1 < centred.size(); ++i) {
        sum += centred[i];
        if (std::abs(sum) > largest) {
            largest = std::abs(sum);
            step.at = i + 1;
        }
    }
    auto const n = static_cast<double>(values.size());
    double const statistic = 2 * largest;  // Pettitt's K
    step.probability = std::min(1.0, 2 * std::exp(-6 * statistic * statistic / (n * n * n + n * n)));
    double const before = median(values.first(step.at));
    step.change = before > 0 ? median(values.subspan(step.at)) / before - 1 : 0;
    return step;
}

ClassSplit best_split(std::span<double const> values) {
    bool const positive = std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
    if (values.size() < least_values || !positive) {
        return {};
    }
    std::vector<double> const logs = trimmed_logarithms(values);
    if (logs.front() == logs.back()) {
        return {};
    }
    auto const n = static_cast<double>(logs.size());
    double const mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
    double total = 0;
    for (double const value : logs) {
        total += (value - mean) * (value - mean);
    }
    auto const least = static_cast<std::size_t>(std::ceil(least_class * n));
    double below = 0;  // sum of the deviations in the lower class
    double most = 0;
    std::size_t best = 0;
    for (std::size_t size = 1; size + least <= logs.size(); ++size) {
        below += logs[size - 1] - mean;
        if (size < least) {
            continue;
        }
        auto const lower = static_cast<double>(size);
        double const between = below * below * (1 / lower + 1 / (n - lower));
        if (between > most) {
            most = between;
            best = size;
        }
    }
    std::span<double const> const all(logs);
    return {most / total, std::exp(median(all.subspan(best)) - median(all.first(best))) - 1};
}

bool is_bimodal(ClassSplit const& split) {
    return split.share >= least_share && split.distance >= least_distance;
}

std::vector<std::string> flags_of(std::span<Nanoseconds const> samples, std::size_t draws) {
    std::vector<double> const values = without_draws(samples, draws);
    std::vector<std::string> flags;
    if (values.size() < least_for_flags) {
        return flags;
    }
    if (std::abs(relative_drift(values)) > large_change) {
        flags.emplace_back("drift");
    }
    // Block medians, because neighbouring samples repeat each other and the probability takes them as independent.
    LevelStep const step = find_step(block_medians(values));
    if (step.probability < unlikely && std::abs(step.change) > large_change) {
        flags.emplace_back("step");
    }
    if (is_bimodal(best_split(values))) {
        flags.emplace_back("bimodal");
    }
    return flags;
}

bool is_below_floor(double sample_ns, double timer_ns, double common_error_ns) {
    return sample_ns < timer_reads * timer_ns || sample_ns < clock_errors * common_error_ns;
}

}  // namespace dlmb::statistics
