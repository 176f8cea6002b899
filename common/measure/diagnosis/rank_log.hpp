// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Notes about ranks and their GPUs over the samples of a cell, and which ranks hold up the others by what each
// rank saw of itself. Each rank keeps its own times; what is the same for all is kept where the result is written.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/plan/plan.hpp"
#include "common/formats/record/cell_result.hpp"
#include "common/measure/environment/cpu_quota.hpp"
#include "common/measure/sampling/sampler.hpp"
#include "common/memory/throttling.hpp"

#include <span>
#include <vector>

namespace dlmb::measure {

/// Times of one rank in the samples of a cell that are one iteration long.
struct RankTimings {
    double posted_ns = 0;             // median from its enter until it had launched
    double waited_ns = 0;             // median from then on until its data was complete
    double posted_spread_ns = 0;      // from the 5th to the 95th percentile, each sample less the median of its draw
    double done_spread_ns = 0;        // the same of (done - enter)
    double sent_bytes = 0;            // what it gives to be sent, to itself too, all draws together
    double posted_bytes = 0;          // of these, what its steps send that wait for none
    std::uint64_t steps_in_turn = 1;  // the most that wait for one another
    std::uint64_t launch_blocks = 0;  // not 0: its launch waits for others, too
};

/// From the 5th to the 95th percentile of `times`, of which every `draws`-th is of one draw, each less the median of
/// its draw: traffic that differs is no jitter. Not for empty sets.
[[nodiscard]] double spread_over_draws(std::span<Nanoseconds const> times, std::size_t draws);

/// A rank is compared with its peers, the ranks that send at least nine tenths of what it sends (for launches: of what
/// it posts), as sending more takes longer: with the median of what they have.
/// Delayed: it takes longer to launch than they do by half of what one step of the longest chain has of `headline_ns`,
/// at least three times as long, and some rank waits that much behind its own launch. Where a launch blocks, launches
/// say nothing. Jittery: its launches are spread more than theirs by all of `headline_ns`, at least three times as far,
/// and some rank's durations are spread by that much; or its durations are, by more than any launch takes or varies.
/// Nothing is said of less than 1 us, from fewer than 5 samples, nor of jitter from fewer than 20. One entry per rank,
/// that with the larger excess.
[[nodiscard]] std::vector<record::Suspect> find_suspects(std::span<RankTimings const> ranks, double headline_ns,
                                                         std::uint64_t samples);

class RankLog {
public:
    void keep(SampleChunk const& chunk);
    /// Mean of this rank's (done - enter) over samples.
    [[nodiscard]] double mean_ns() const;
    /// Collective, the same on all ranks. The iterations of each sample were waited for together. Needs samples.
    [[nodiscard]] record::Queueing queueing(Bootstrap& bootstrap, std::uint64_t iterations) const;
    /// Collective. `result` is filled in on the deciding rank; its headline is in place there. `draws`: this rank's
    /// plans. `launch_blocks`: of this rank's.
    void summarize(Bootstrap& bootstrap, std::span<Plan const> draws, bool launch_blocks,
                   record::CellResult& result) const;

private:
    std::vector<Nanoseconds> enter_;  // after the first rank's
    std::vector<Nanoseconds> posted_;
    std::vector<Nanoseconds> queued_;  // from its enter until its last iteration was launched
    std::vector<Nanoseconds> waited_;
    std::vector<Nanoseconds> done_;
    std::vector<Nanoseconds> skew_;
    std::vector<Nanoseconds> last_arrival_;
    std::vector<double> imbalance_time_;
};

class ThrottleLog {
public:
    /// `gpu` is that of this rank; nullptr: the cell uses none.
    explicit ThrottleLog(Throttling const* gpu) : gpu_(gpu) {}

    /// Outside the timed region, right behind samples: the GPU is still as they left it.
    void ask();
    /// Collective. nullopt: no GPU was seen held down, and not all were asked.
    [[nodiscard]] std::optional<bool> over_ranks(Bootstrap& bootstrap) const;

private:
    Throttling const* gpu_;
    std::optional<bool> seen_;
};

class QuotaLog {
public:
    /// `reader` is that of this rank's process; nullptr: nobody asks.
    explicit QuotaLog(QuotaReader const* reader) : reader_(reader) {}

    /// Outside the timed region, right before and right behind samples.
    void begin() { before_ = read(); }
    void end();
    /// Collective. Between begin() and end(), the largest over ranks; nullopt: no rank has a quota.
    [[nodiscard]] std::optional<record::QuotaUse> over_ranks(Bootstrap& bootstrap) const;

private:
    [[nodiscard]] record::QuotaUse read() const {
        return reader_ == nullptr ? record::QuotaUse{} : reader_->read().value_or(record::QuotaUse{});
    }

    QuotaReader const* reader_;
    record::QuotaUse before_;
    record::QuotaUse seen_;
};

}  // namespace dlmb::measure
