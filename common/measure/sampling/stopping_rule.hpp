// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How long a cell is warmed up, when a round of it is over and when the cell is. Values: they are told what was sampled
// and how long that took, and answer what to do next; they read no clock and talk to nobody. Rank 0 owns them, the
// others obey their answers.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::measure {

class WarmUpRule {
public:
    /// `fixed`: exactly that many iterations. `pass`: positions of the cell, each of which is to run once at least.
    /// `iteration_ns`: what the first, cold iteration took. `time_limit_ns`: what the cell may spend in its rounds
    /// afterwards; who wants a quick answer does not want a warm-up that takes longer.
    WarmUpRule(std::optional<std::uint64_t> fixed, std::uint64_t pass, Nanoseconds iteration_ns,
               Nanoseconds time_limit_ns = 10'000'000'000);

    /// Iterations of the next batch; 0: warm.
    [[nodiscard]] std::uint64_t next() const;
    void add(std::uint64_t iterations, double median_ns, Nanoseconds elapsed_ns);

    [[nodiscard]] std::uint64_t iterations() const { return iterations_; }
    /// Median of the last batch; before the first one, the cold iteration.
    [[nodiscard]] double iteration_ns() const { return last_median_ns_; }

private:
    [[nodiscard]] bool settled() const;

    std::optional<std::uint64_t> fixed_;
    std::uint64_t pass_;
    Nanoseconds least_ns_;
    Nanoseconds most_ns_;
    std::uint64_t batch_ = 0;
    std::uint64_t iterations_ = 0;
    Nanoseconds elapsed_ns_ = 0;
    double previous_median_ns_ = 0;
    double last_median_ns_;
};

enum class Stop : std::uint8_t { not_yet, precision, time, cap, fixed };
[[nodiscard]] constexpr std::string_view name_of(Stop stop) {
    constexpr std::array<std::string_view, 5> names{"", "precision", "time", "cap", "fixed"};
    return names.at(static_cast<std::size_t>(stop));
}

/// samples > 0: take that many more. samples == 0: leave the cell, for good if `stop` says so, else until its next
/// round.
struct StoppingDecision {
    std::uint64_t samples = 0;
    Stop stop = Stop::not_yet;
    bool operator==(StoppingDecision const&) const = default;
};

// Half width of the 95 % interval of the round medians over their median. Streams are bound by bandwidth, which repeats
// better than latency does.
inline constexpr double latency_precision = 0.02;
inline constexpr double stream_precision = 0.01;

struct StoppingLimits {
    /// Exactly that many, in up to six rounds, whatever the time.
    std::optional<std::uint64_t> fixed_samples = std::nullopt;
    Nanoseconds time_ns = 10'000'000'000;  // what a cell may spend in its rounds
    std::uint64_t pass = 1;                // samples of one pass over the draws
    double precision = latency_precision;
    bool at_once = false;  // fixed samples are one round, in chunks of 16384
};

class StoppingRule {
public:
    /// `sample_ns`: what one sample is expected to take, from the warm-up; corrected by every chunk.
    StoppingRule(StoppingLimits const& limits, Nanoseconds sample_ns);

    void begin_round();
    [[nodiscard]] StoppingDecision next() const;
    /// `elapsed_ns`: on the deciding rank's clock, everything between the samples included.
    void add(std::span<Nanoseconds const> samples, Nanoseconds elapsed_ns);

    /// Medians of the rounds so far. The current one is included once it has samples; of fixed samples, once it has all
    /// of them.
    [[nodiscard]] std::vector<double> const& round_medians() const { return round_medians_; }

private:
    [[nodiscard]] StoppingDecision next_fixed() const;
    [[nodiscard]] std::uint64_t share_of_next_round() const;
    [[nodiscard]] bool round_over() const;
    [[nodiscard]] Stop stop_after_round() const;
    [[nodiscard]] std::uint64_t fitting(Nanoseconds budget_ns) const;
    [[nodiscard]] std::uint64_t chunk() const;

    StoppingLimits limits_;
    Nanoseconds round_ns_most_;
    Nanoseconds sample_ns_;
    Nanoseconds elapsed_ns_ = 0;
    std::uint64_t samples_ = 0;
    std::uint64_t growing_chunk_ = 0;
    std::uint64_t fixed_share_ = 0;  // of the current round
    bool opens_round_ = true;
    Nanoseconds round_elapsed_ns_ = 0;
    std::vector<Nanoseconds> round_samples_;
    std::vector<double> round_medians_;
};

}  // namespace dlmb::measure
