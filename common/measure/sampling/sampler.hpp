// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The timed region. Runs one candidate's compiled plans sample by sample behind a synchronised start and reduces what
// all ranks saw once per chunk. It knows nothing of warm-up, rounds or when to stop.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/diagnosis/watchdog.hpp"
#include "common/measure/sampling/phases.hpp"
#include "common/measure/sampling/sample_marks.hpp"
#include "common/measure/start/common_start.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlmb::measure {

inline constexpr Nanoseconds no_device_time = -1;

/// Per sample. `own` is this rank's; the others are over all ranks and equal on all ranks.
struct Chunk {
    std::vector<RankMarks> own;
    std::vector<SampleTimes> samples;
    std::vector<Nanoseconds> headline;  // span or max_rank; per iteration where a sample has several
    std::vector<Nanoseconds> device;    // largest over ranks, on the devices' clocks; no_device_time where hosts drive
    std::vector<Nanoseconds> phases;    // [sample * labels + label], largest over ranks; empty when not measured
    std::uint64_t late = 0;             // starts that a rank missed, and so samples taken again
};

class Sampler {
public:
    /// `positions` (as in Cell), `plans` and `phases` must outlive it. Samples begin behind a barrier until told
    /// otherwise.
    Sampler(Bootstrap& bootstrap, CommonClock const& clock, Watchdog& watchdog,
            std::span<std::unique_ptr<CompiledPlan> const> positions, std::span<Plan const> plans,
            PhaseMap const& phases);

    /// Back-to-back iterations of one sample. Iteration i of a cell runs at position i mod (number of positions), so
    /// does sample i when it is one iteration long. Phases are measured then only: their marks are those of one
    /// iteration.
    void set_iterations_per_sample(std::uint64_t iterations) { per_sample_ = iterations; }
    [[nodiscard]] std::uint64_t iterations_per_sample() const { return per_sample_; }

    /// From the next sample on. A sample that a rank began late is dropped on all ranks and its number taken again.
    void set_start(SampleStart const& start) { start_ = start; }
    [[nodiscard]] SampleStart const& start() const { return start_; }
    /// From the next sample on the headline is the span, or else the largest duration over ranks, which it is until
    /// told otherwise.
    void set_span(bool is_span) { is_span_ = is_span; }
    [[nodiscard]] bool spans() const { return is_span_; }

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
    [[nodiscard]] Chunk const& run(std::uint64_t first, std::uint64_t count);

private:
    void take(std::uint64_t sample, std::size_t slot);
    void take_late_ones_again(std::uint64_t first);
    void reserve(std::uint64_t count);
    void reduce();
    [[nodiscard]] Nanoseconds headline(SampleTimes const& times) const;
    [[nodiscard]] bool with_phases() const { return per_sample_ == 1; }

    Bootstrap& bootstrap_;
    CommonClock const& clock_;
    Watchdog& watchdog_;
    std::span<std::unique_ptr<CompiledPlan> const> positions_;
    std::span<Plan const> plans_;
    std::vector<Plan const*> plan_at_;  // by position
    PhaseMap const& phases_;
    std::uint64_t per_sample_ = 1;
    bool is_span_ = false;
    DeviceGate* gate_ = nullptr;
    bool was_gated_ = false;
    SampleStart start_;
    CacheFlush* flush_ = nullptr;
    Chunk chunk_;
    std::vector<std::int64_t> late_;  // by sample: 1 where the start was missed
    std::vector<std::int64_t> largest_;
    std::vector<std::int64_t> sums_;
};

}  // namespace dlmb::measure
