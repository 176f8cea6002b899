// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The result of measuring one cell. Plain values; record/ writes them, tuning/ and app/ read them.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::record {

enum class Status { ok, skipped, failed, timeout, invalid };
[[nodiscard]] constexpr std::string_view name_of(Status status) {
    constexpr std::array<std::string_view, 5> names{"ok", "skipped", "failed", "timeout", "invalid"};
    return names.at(static_cast<std::size_t>(status));
}

/// Over samples, each of them over all ranks: what CellResult::definition says. Nanoseconds.
struct TimeSummary {
    std::uint64_t samples = 0;
    double median = 0;
    std::optional<double> median_low;  // 95 % interval of the median by order statistics; absent below 6 samples
    std::optional<double> median_high;
    double min = 0;
    double max = 0;
    double mean = 0;
    double q1 = 0;  // quartiles and percentiles: nearest rank
    double q3 = 0;
    std::optional<double> p90;   // absent below 29 samples
    std::optional<double> p95;   // absent below 59 samples
    std::optional<double> p99;   // absent below 299 samples
    double mad = 0;              // median of |sample - median|
    std::uint64_t outliers = 0;  // samples beyond 1.5 (q3 - q1) outside the quartiles; counted, never left out
};

/// Properties of the samples as a series in time. Nothing here corrects a figure.
struct SampleSeries {
    double lag1 = 0;               // rank autocorrelation of neighbouring samples, -1..1
    double effective_samples = 0;  // how many independent samples would say as much
    double drift = 0;              // change over the whole cell, as a share of the median
    std::uint64_t step_at = 0;     // first sample behind the likeliest step; `flags` says whether there is one
};

/// A median over samples and its 95 % interval by order statistics, absent below 6 samples. Nanoseconds.
struct MedianInterval {
    double median = 0;
    std::optional<double> low;
    std::optional<double> high;
    bool operator==(MedianInterval const&) const = default;
};

struct PhaseResult {
    std::string label;  // phase, before the dot
    TimeSummary time;
    std::optional<MedianInterval> ended =
        std::nullopt;  // from the begin of the iteration to the end of the phase's last step
};

/// How often which rank was the slowest of a sample.
struct Straggler {
    Rank rank = 0;
    double share = 0;  // of samples, 0..1; 1/ranks is what chance gives
};

/// Which phase took longest in most samples.
struct CriticalPhase {
    std::string label;
    double share = 0;  // of samples, 0..1
};

/// How the ranks were made to begin together.
struct Sync {
    std::string method;              // window, barrier
    Nanoseconds margin_ns = 0;       // window: from the last arrival to the start, at the end of the cell
    std::uint64_t late = 0;          // samples that were dropped and taken again, as a rank missed their start
    Nanoseconds clock_error_ns = 0;  // bound of what the common clock was wrong by on any rank in any round
    double drift_ppm = 0;            // of a rank's clock against the common one, most of any rank; corrected
    bool is_span = false;            // times of different ranks make up a sample, on the common clock
};

/// Over samples.
struct Arrival {
    double skew_median_ns = 0;          // last enter - first enter
    std::optional<double> skew_p99_ns;  // absent below 299 samples
    double last_arrival_ns = 0;         // median of (last done - last enter)
    double imbalance_time = 1;          // median of max / mean over ranks of (done - enter)
};

/// By rank, medians over samples on the common clock. A rank that is late to post holds up the others; one whose
/// durations are spread more than theirs is jittery.
struct RankTimes {
    std::vector<double> enter_ns;   // after the first rank's enter
    std::vector<double> posted_ns;  // from its enter until its first iteration was launched
    std::vector<double> spread_ns;  // interquartile range of (done - enter), per iteration
};

/// Each rank's mean over its calls, over the ranks that take times: OSU's Avg, Min and Max. Nanoseconds.
struct RankMeans {
    double mean = 0;
    double min = 0;
    double max = 0;
};

/// A rank that holds up the others, beside which it stands out (diagnosis/rank_log.hpp).
struct Suspect {
    enum class Kind : std::uint8_t { delayed, jittery };
    Rank rank = 0;
    Kind kind = Kind::delayed;
    double ns = 0;         // delayed: from its enter until it launched; jittery: from the 5th to the 95th percentile
    double others_ns = 0;  // median of the ranks that it is compared with
};
[[nodiscard]] constexpr std::string_view name_of(Suspect::Kind kind) {
    return kind == Suspect::Kind::delayed ? "delayed" : "jittery";
}

/// Which of two values of a figure one would rather have.
enum class Better : std::uint8_t { lower, higher, neither };
[[nodiscard]] constexpr std::string_view name_of(Better better) {
    constexpr std::array<std::string_view, 3> names{"lower", "higher", "neither"};
    return names.at(static_cast<std::size_t>(better));
}

/// A figure without a field of its own: written, read, described and printed like all others of this list, so that a
/// new one is added only where it is measured and where docs/measuring.md lists its name.
struct Figure {
    std::string name;  // once in a result
    double value = 0;
    std::string unit;  // ns, B, or what is counted
    Better better = Better::neither;
    std::string from;  // what it is a figure of: samples, phases ...
    bool operator==(Figure const&) const = default;
};

enum class Verdict { passed, failed, off };
[[nodiscard]] constexpr std::string_view name_of(Verdict verdict) {
    constexpr std::array<std::string_view, 3> names{"passed", "failed", "off"};
    return names.at(static_cast<std::size_t>(verdict));
}

struct Validation {
    Verdict verdict = Verdict::off;
    std::uint64_t blocks_checked = 0;                           // over all ranks
    std::optional<std::uint64_t> timed_checked = std::nullopt;  // timed iterations of these, each on all ranks
    std::vector<std::uint32_t> draws_checked;                   // draw indices that were run and checked
    std::vector<std::uint32_t> slots_checked;                   // of the sets of buffers (buffer_pool.hpp)
    std::string first_mismatch;  // names step, source, destination, offset; empty when passed
};

/// How often a quota of processor time held processes of the group back.
struct QuotaUse {
    std::uint64_t periods = 0;    // in which something ran
    std::uint64_t throttled = 0;  // of these, in which the quota was used up
    Nanoseconds throttled_ns = 0;
    bool operator==(QuotaUse const&) const = default;
};

/// How a cell was run that a device drives by itself.
struct DeviceTiming {
    TimeSummary time;             // on the devices' clocks, largest over ranks
    double host_overhead_ns = 0;  // median on the host's clock minus median on the device's
    bool gated = false;
};

/// The host's time to queue iterations that a device runs in turn, where one wait ends them all.
struct Queueing {
    double host_ns = 0;       // until an iteration was queued: median over samples, mean over ranks
    bool host_bound = false;  // on some rank the device waited for the host: the time is that of queueing
};

struct CellResult {
    Status status = Status::ok;
    std::string reason;  // why it is not ok
    TimeSummary time;    // all zero unless ok
    std::vector<Nanoseconds> samples_ns;
    std::vector<PhaseResult> phases;  // in plan order
    std::vector<double> round_medians_ns;
    double median_of_rounds_ns = 0;      // median of these, by which launches are compared; 0 without a round
    std::optional<double> aa_ratio;      // median of rounds 1, 3, 5 ... over that of 2, 4, 6 ...; absent with one round
    std::optional<SampleSeries> series;  // absent for too few samples
    std::optional<bool> below_floor;     // too short for this launch's clock to be compared; absent: not known
    // Clocks of a GPU were held down behind some samples, or a quota of processor time was used up; absent: not known.
    std::optional<bool> throttled;
    std::optional<QuotaUse> cpu_quota;  // over the samples, largest over ranks; absent: there is no quota
    // drift, step, bimodal: what makes the median a poor description; host_bound, assumed_nodes: of something else.
    std::vector<std::string> flags;
    std::vector<double> rank_median_ns;   // per rank: median of its own durations
    std::optional<RankMeans> rank_means;  // where the definition averages over ranks
    RankTimes ranks;
    Arrival arrival;
    Sync sync;
    std::optional<CriticalPhase> critical_phase;  // absent where phases were not measured
    std::optional<DeviceTiming> device;
    std::optional<Queueing> queueing;  // absent where each iteration was waited for
    Straggler straggler;
    std::optional<double> dropped;  // times slower than the best of its backend when it got no more rounds for that
    std::string stop_reason;        // precision, time, cap, fixed
    std::string definition;         // what a sample is, as text
    std::uint64_t iterations_per_sample = 1;
    int time_divisor = 1;      // iteration / reported time: 2 where OSU halves a round trip; not written to files
    Nanoseconds setup_ns = 0;  // compile() of all draws in all slots, max over ranks
    Nanoseconds first_iteration_ns = 0;  // first ever iteration, max over ranks
    std::uint64_t warmup_iterations = 0;
    Validation validation;
    std::optional<std::uint64_t> bit_patterns;  // of floating-point sums, on the rank with most; 0: none added
    std::vector<Suspect> suspects;              // by rank; none is looked for in samples of several iterations
    std::vector<Figure> figures;                // in the order of measuring
};

}  // namespace dlmb::record
