// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The timed region. Runs one cell's compiled plans sample by sample behind a synchronised start and reduces what all
// ranks saw once per chunk: the times of a sample follow from one maximum and one sum over ranks. It knows nothing of
// warm-up, rounds or when to stop.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/base/error.hpp"
#include "common/formats/plan/osu_program.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/measure/sampling/phases.hpp"
#include "common/measure/sampling/request_times.hpp"
#include "common/measure/start/common_start.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlmb::measure {

struct RankedDuration {
    Nanoseconds duration_ns = 0;
    Rank rank = 0;
    bool operator==(RankedDuration const&) const = default;
};

inline constexpr int ranked_rank_bits = 20;                                                           // a million ranks
inline constexpr Nanoseconds ranked_duration_most = (Nanoseconds{1} << (63 - ranked_rank_bits)) - 1;  // 2.4 hours
inline constexpr Rank ranked_rank_most = (Rank{1} << ranked_rank_bits) - 1;

/// Ordered by duration; of equal durations the lower rank is the larger value.
[[nodiscard]] inline std::int64_t packed(RankedDuration const& value) {
    if (value.duration_ns < 0 || value.duration_ns > ranked_duration_most || value.rank > ranked_rank_most) {
        throw Error("a sample's duration or rank is outside what a record can hold");
    }
    return (value.duration_ns << ranked_rank_bits) | std::int64_t{ranked_rank_most - value.rank};
}

[[nodiscard]] inline RankedDuration unpacked(std::int64_t value) {
    return {value >> ranked_rank_bits, ranked_rank_most - static_cast<Rank>(value & ranked_rank_most)};
}

/// One rank's times of one sample, on the common clock.
struct RankMarks {
    Nanoseconds enter = 0;   // before the first call
    Nanoseconds posted = 0;  // launch() of the first iteration has returned
    Nanoseconds done = 0;    // this rank's data is complete and usable
    Nanoseconds queued = 0;  // launch() of the last iteration has returned
};

struct SampleTimes {
    Nanoseconds span = 0;          // last done - first enter
    Nanoseconds max_rank = 0;      // largest over ranks of (done - enter)
    Nanoseconds last_arrival = 0;  // last done - last enter: the cost without what ranks waited for each other
    Nanoseconds skew = 0;          // last enter - first enter
    double imbalance_time = 1;     // largest / mean over ranks of (done - enter)
    Rank straggler = 0;            // the rank of max_rank; the lowest of several
    Nanoseconds first_enter = 0;
};

/// A rank's words in the maximum over ranks, for each sample.
using LargestWords = std::array<std::int64_t, 4>;
[[nodiscard]] LargestWords largest_words(RankMarks const& marks, Rank rank);

/// From the maxima over ranks and the sum over ranks of (done - enter).
[[nodiscard]] SampleTimes sample_times(std::span<std::int64_t const, 4> largest, std::int64_t sum_ns, int ranks);

inline constexpr Nanoseconds no_device_time = -1;

/// Per sample. `own` is this rank's; the others are over all ranks and equal on all ranks.
struct SampleChunk {
    std::vector<RankMarks> own;
    std::vector<SampleTimes> samples;
    std::vector<Nanoseconds> headline;  // span, max_rank or mean; per iteration where a sample has several
    std::uint64_t late = 0;             // starts that a rank missed, and so samples taken again
};

/// Iterations with marks, for the times of their parts. Marks cost time, so these iterations are no samples.
struct MarkedChunk {
    std::vector<Nanoseconds> device;    // largest over ranks, on the devices' clocks; no_device_time where hosts drive
    std::vector<Nanoseconds> phases;    // [iteration * labels + label], largest over ranks
    std::vector<Nanoseconds> ended;     // the same of the times at which phases ended
    std::vector<Nanoseconds> requests;  // RequestMap::times() of the iterations in turn, largest over ranks
};

class Sampler {
public:
    /// `positions` (as in Cell), `plans` and `phases` must outlive it. Samples begin behind a barrier until told
    /// otherwise.
    Sampler(Bootstrap& bootstrap, CommonClock const& clock, Watchdog& watchdog,
            std::span<std::unique_ptr<CompiledPlan> const> positions, std::span<Plan const> plans,
            PhaseMap const& phases);

    /// Back-to-back iterations of one sample. Iteration i of a cell runs at position i mod (number of positions), so
    /// does sample i when it is one iteration long.
    void set_iterations_per_sample(std::uint64_t iterations) { per_sample_ = iterations; }
    [[nodiscard]] std::uint64_t iterations_per_sample() const { return per_sample_; }

    /// From the next sample on. A sample that a rank began late is dropped on all ranks and its number taken again.
    void set_start(SampleStart const& start) { start_ = start; }
    [[nodiscard]] SampleStart const& start() const { return start_; }
    /// From the next sample on the headline is the span, or else the largest duration over ranks, which it is until
    /// told otherwise.
    void set_span(bool is_span) { is_span_ = is_span; }
    [[nodiscard]] bool spans() const { return is_span_; }

    /// From the next sample on the headline is the mean over ranks of (done - enter).
    void set_mean() { is_mean_ = true; }
    /// From the next sample on the host waits for the last iteration of a sample only, where a device runs them in
    /// turn.
    void set_queued() { is_queued_ = true; }
    [[nodiscard]] bool queues() const { return is_queued_ && positions_.front()->queues_iterations(); }
    /// From the next sample on, each sample is one call, timed as that program does; the headline is the mean over the
    /// ranks that take times. Between two calls of a run are only the program's barriers, made by `backend`.
    void set_osu(OsuProgram const& program, Backend& backend) {
        program_ = program;
        osu_backend_ = &backend;
    }

    /// For marked iterations from now on; outlives it.
    void set_requests(RequestMap const& requests) { requests_ = &requests; }

    /// From the next sample on the device is held back until all ranks have queued their iteration; nullptr: no more.
    /// Without effect on plans that need the host while they run.
    void set_gate(DeviceGate* gate) { gate_ = gate; }
    /// Whether any sample began behind the gate.
    [[nodiscard]] bool was_gated() const { return was_gated_; }

    /// Swept before each sample, before ranks wait for each other; nullptr: never.
    void set_flush(CacheFlush* flush) { flush_ = flush; }

    /// Collective. Synchronised single iterations of which nothing is kept, at the positions before that of sample
    /// `next`: they warm no buffer that it uses, where there are others.
    void run_unrecorded(std::uint64_t next, std::uint64_t iterations);
    /// Collective. Samples number first .. first + count - 1 of the cell. Valid until the next call.
    /// `lead`: calls right before them of which nothing is kept; of OSU's programs only.
    [[nodiscard]] SampleChunk const& run(std::uint64_t first, std::uint64_t count, std::uint64_t lead = 0);
    /// Collective. `count` synchronised single iterations with marks, at the positions before that of sample `next`, as
    /// run_unrecorded(). `lead`: as many right before them, of which nothing is kept. Valid until the next call.
    [[nodiscard]] MarkedChunk const& run_marked(std::uint64_t next, std::uint64_t count, std::uint64_t lead);

private:
    /// The timed region. On this rank's clock.
    [[nodiscard]] RankMarks time(std::size_t position, std::uint64_t iterations);
    void take(std::uint64_t sample, std::size_t slot);
    void make_calls(std::uint64_t first, std::uint64_t count, std::uint64_t lead);
    void run_unrecorded_at(std::uint64_t first, std::uint64_t iterations);
    [[nodiscard]] std::uint64_t position_before(std::uint64_t sample, std::uint64_t iterations) const;
    void take_late_ones_again(std::uint64_t first);
    void reserve(std::uint64_t count);
    void reduce();
    [[nodiscard]] Nanoseconds headline(SampleTimes const& times, Nanoseconds sum) const;
    void keep_marks(bool keeps);
    [[nodiscard]] RankMarks on_common_clock(RankMarks const& marks) const;

    Bootstrap& bootstrap_;
    CommonClock const& clock_;
    Watchdog& watchdog_;
    std::span<std::unique_ptr<CompiledPlan> const> positions_;
    std::span<Plan const> plans_;
    std::vector<Plan const*> plan_at_;  // by position
    PhaseMap const& phases_;
    RequestMap const* requests_ = nullptr;
    std::uint64_t per_sample_ = 1;
    bool is_span_ = false;
    bool is_mean_ = false;
    bool is_queued_ = false;
    OsuProgram program_;
    Backend* osu_backend_ = nullptr;  // whose barriers are between calls; nullptr: samples are not those of OSU
    DeviceGate* gate_ = nullptr;
    bool was_gated_ = false;
    SampleStart start_;
    CacheFlush* flush_ = nullptr;
    SampleChunk chunk_;
    MarkedChunk marked_;
    std::vector<std::int64_t> late_;  // by sample: 1 where the start was missed
    std::vector<std::int64_t> largest_;
    std::vector<std::int64_t> sums_;
};

}  // namespace dlmb::measure
