// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/stopping_rule.hpp"

#include "common/base/error.hpp"
#include "common/base/statistics/order_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds least_ns = 200'000'000;
constexpr Nanoseconds most_ns = 3'000'000'000;
constexpr Nanoseconds limits_per_warm_up = 5;  // with a short time limit the warm-up takes a fifth to five times of it
constexpr std::uint64_t least_iterations = 10;
constexpr std::uint64_t most_iterations = 2000;  // counts after least_ns_ only: 2000 iterations of 10 us are 20 ms
constexpr std::uint64_t largest_batch = 4096;
constexpr double agreement = 0.05;

}  // namespace

WarmUpRule::WarmUpRule(std::optional<std::uint64_t> fixed, std::uint64_t pass, Nanoseconds iteration_ns,
                       Nanoseconds time_limit_ns)
    : fixed_(fixed), pass_(pass), least_ns_(std::min(least_ns, time_limit_ns / limits_per_warm_up)),
      most_ns_(std::min(most_ns, limits_per_warm_up * time_limit_ns)),
      last_median_ns_(static_cast<double>(iteration_ns)) {}

std::uint64_t WarmUpRule::next() const {
    if (fixed_) {
        return std::min(*fixed_ - iterations_, largest_batch);
    }
    if (settled()) {
        return 0;
    }
    Nanoseconds const left = std::max<Nanoseconds>(0, most_ns_ - elapsed_ns_);
    auto const fits = static_cast<std::uint64_t>(static_cast<double>(left) / std::max(1.0, last_median_ns_));
    // The cold iteration overstates what the first batch takes, so that batch runs whatever it announces.
    std::uint64_t const wanted = std::clamp<std::uint64_t>(2 * batch_, 1, largest_batch);
    return iterations_ == 0 ? wanted : std::min(wanted, fits);
}

void WarmUpRule::add(std::uint64_t iterations, double median_ns, Nanoseconds elapsed_ns) {
    batch_ = iterations;
    previous_median_ns_ = iterations_ == 0 ? 0 : last_median_ns_;
    last_median_ns_ = median_ns;
    iterations_ += iterations;
    elapsed_ns_ += elapsed_ns;
}

bool WarmUpRule::settled() const {
    if (elapsed_ns_ >= most_ns_) {
        return true;
    }
    if (elapsed_ns_ < least_ns_ || iterations_ < std::max(least_iterations, pass_)) {
        return false;
    }
    bool const agree =
        std::abs(last_median_ns_ - previous_median_ns_) <= agreement * std::max(last_median_ns_, previous_median_ns_);
    return agree || iterations_ >= most_iterations;
}

namespace {

constexpr std::uint64_t first_chunk = 16;
constexpr std::uint64_t round_samples_enough = 20;  // together with round_ns_enough
constexpr Nanoseconds round_ns_enough = 50'000'000;
constexpr std::uint64_t round_samples_most = 500;
constexpr Nanoseconds round_ns_most = 1'000'000'000;
constexpr Nanoseconds limit_per_round = 8;  // a short time limit, too, has rounds_enough rounds and some to spare
constexpr std::size_t rounds_enough = 6;    // fewer have no 95 % interval
constexpr std::size_t rounds_most = 30;
constexpr std::uint64_t chunk_at_once = 16384;
constexpr std::uint64_t samples_least = 3;  // a cell slower than its limit may take up to twice the limit for these

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) {
    return (value + by - 1) / by;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return divided_up(value, step) * step;
}

std::uint64_t round_down(std::uint64_t value, std::uint64_t step) {
    return value / step * step;
}

}  // namespace

StoppingRule::StoppingRule(StoppingLimits const& limits, Nanoseconds sample_ns)
    : limits_(limits), round_ns_most_(std::min(round_ns_most, limits.time_ns / limit_per_round)),
      sample_ns_(std::max<Nanoseconds>(1, sample_ns)) {
    limits_.pass = std::max<std::uint64_t>(1, limits_.pass);
}

void StoppingRule::begin_round() {
    round_samples_.clear();
    opens_round_ = true;
    round_elapsed_ns_ = 0;
    growing_chunk_ = first_chunk;
    fixed_share_ = limits_.fixed_samples ? share_of_next_round() : 0;
}

// Fixed counts: the passes left, spread over the rounds left.
std::uint64_t StoppingRule::share_of_next_round() const {
    std::uint64_t const samples_left = *limits_.fixed_samples - std::min(samples_, *limits_.fixed_samples);
    if (limits_.at_once) {
        return samples_left;
    }
    std::uint64_t const passes_left = divided_up(samples_left, limits_.pass);
    std::uint64_t const rounds_left = rounds_enough - std::min(round_medians_.size(), rounds_enough - 1);
    return std::min(samples_left, divided_up(passes_left, rounds_left) * limits_.pass);
}

void StoppingRule::add(std::span<Nanoseconds const> samples, Nanoseconds elapsed_ns) {
    if (samples.empty()) {
        throw Error("stopping rule: a chunk without samples");
    }
    round_samples_.insert(round_samples_.end(), samples.begin(), samples.end());
    round_elapsed_ns_ += elapsed_ns;
    elapsed_ns_ += elapsed_ns;
    samples_ += samples.size();
    growing_chunk_ += growing_chunk_ / 2;
    sample_ns_ = std::max<Nanoseconds>(1, elapsed_ns / static_cast<Nanoseconds>(samples.size()));
    if (limits_.fixed_samples && round_samples_.size() < fixed_share_) {
        return;  // a round of millions has thousands of chunks: a median at each takes longer than the samples
    }
    if (opens_round_) {
        round_medians_.push_back(0);
    }
    opens_round_ = false;
    round_medians_.back() = statistics::median(round_samples_);
}

StoppingDecision StoppingRule::next() const {
    if (limits_.fixed_samples) {
        return next_fixed();
    }
    if (!round_samples_.empty() && round_over()) {
        return {0, stop_after_round()};
    }
    std::uint64_t const affordable = fitting(limits_.time_ns - elapsed_ns_);
    std::uint64_t const samples = std::min(chunk(), round_down(affordable, limits_.pass));
    if (samples > 0) {
        return {samples, Stop::not_yet};
    }
    if (samples_ >= samples_least) {
        return {0, Stop::time};
    }
    // Not even one pass over the draws fits: a part of one, then, and three samples if that is not out of proportion.
    std::uint64_t const stretched = std::min(samples_least - samples_, fitting(2 * limits_.time_ns - elapsed_ns_));
    std::uint64_t const part = std::max({affordable, stretched, std::uint64_t{samples_ == 0 ? 1U : 0U}});
    return {part, part == 0 ? Stop::time : Stop::not_yet};
}

StoppingDecision StoppingRule::next_fixed() const {
    if (samples_ >= *limits_.fixed_samples) {
        return {0, Stop::fixed};
    }
    std::uint64_t const left = fixed_share_ - std::min<std::uint64_t>(fixed_share_, round_samples_.size());
    std::uint64_t const most = limits_.at_once ? chunk_at_once : round_up(round_samples_most, limits_.pass);
    return {std::min(left, most), Stop::not_yet};
}

bool StoppingRule::round_over() const {
    std::uint64_t const n = round_samples_.size();
    return (n >= round_samples_enough && round_elapsed_ns_ >= round_ns_enough) || n >= round_samples_most ||
           round_elapsed_ns_ >= round_ns_most_;
}

Stop StoppingRule::stop_after_round() const {
    auto const interval = statistics::median_interval(round_medians_);
    if (interval && (interval->high - interval->low) / 2 <= limits_.precision * statistics::median(round_medians_)) {
        return Stop::precision;
    }
    if (elapsed_ns_ >= limits_.time_ns && samples_ >= samples_least) {
        return Stop::time;
    }
    return round_medians_.size() >= rounds_most ? Stop::cap : Stop::not_yet;
}

std::uint64_t StoppingRule::fitting(Nanoseconds budget_ns) const {
    return static_cast<std::uint64_t>(std::max<Nanoseconds>(0, budget_ns) / sample_ns_);
}

// Grows through the round, whole passes, and no more than the rest of the round has time for; at least one pass.
std::uint64_t StoppingRule::chunk() const {
    std::uint64_t const wanted = round_up(growing_chunk_, limits_.pass);
    std::uint64_t const fits = round_down(fitting(round_ns_most_ - round_elapsed_ns_), limits_.pass);
    std::uint64_t const left =
        round_up(round_samples_most - std::min<std::uint64_t>(round_samples_most, round_samples_.size()), limits_.pass);
    return std::max(limits_.pass, std::min({wanted, fits, left}));
}

}  // namespace dlmb::measure
