// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs single iterations whose payload is coded beforehand and verified afterwards on every rank, so that all ranks
// know of a mismatch anywhere: before timing and after it. While a cell is timed, some iterations of each visit are
// verified likewise: their payload is prepared before the samples that they belong to, and compared after these.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/formats/record/cell_result.hpp"
#include "common/measure/buffers/buffer_pool.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlmb::measure {

/// Iterations without a pause. Iteration i of a cell runs at position i mod (positions).
struct TimedIterations {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t unrecorded = 0;  // at the positions before the first one
};

/// One timed iteration whose payload is verified.
struct CheckedIteration {
    std::uint64_t position = 0;
    PayloadAge age;  // when the iterations are over
};

/// At most `most` of `iterations`, by `random`, in slots of their own: of those that are the last ones in their slots.
/// Up to half of the slots, and where there are enough iterations half of the slots are used between preparing and
/// the first of them, so that they find caches that hold the others, as all do. Needs an iteration.
[[nodiscard]] std::vector<CheckedIteration> choose_checked(std::uint32_t random, TimedIterations const& iterations,
                                                           std::uint64_t draws, std::uint64_t slots,
                                                           std::uint64_t most);

class PayloadCheck {
public:
    /// Payload of the largest draw, over all ranks.
    static constexpr Bytes small_world_payload = Bytes{256} << 20;
    static constexpr Bytes checked_world_payload = Bytes{1} << 30;
    /// Per rank, on average: as many timed iterations as have so much memory are verified together, at least one.
    static constexpr Bytes checked_bytes_per_rank = Bytes{4} << 20;

    /// Collective. The arguments must outlive it.
    PayloadCheck(Bootstrap& bootstrap, MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans,
                 record::Fill timed);

    /// Positions to check before timing, which take every draw once, and after it, which take every draw in as many
    /// slots as a gigabyte of the world's payload allows, most often all. Where that payload is large, one position
    /// before and another after.
    [[nodiscard]] std::vector<std::uint64_t> before() const;
    [[nodiscard]] std::vector<std::uint64_t> after() const;

    /// Collective. One iteration at `position`, adding what it found to `validation` alike on all ranks. Returns what
    /// the iteration took on the slowest rank.
    Nanoseconds run(std::uint64_t position, CompiledPlan& compiled, record::Validation& validation);
    /// The same on all ranks.
    [[nodiscard]] bool has_payload() const { return world_payload_ > 0; }
    /// Collective. Puts the payload of some of `iterations` into their slots.
    void prepare(std::uint32_t random, TimedIterations const& iterations);
    /// Collective. After these iterations. `again`: some of them were made again since.
    void verify(bool again, record::Validation& validation);

    /// Collective. After several of these: adds how many blocks they compared, and puts into the buffers what timed
    /// iterations are to find, where that is not what checked ones leave.
    void conclude(record::Validation& validation);

private:
    struct PreparedIteration {
        CheckedIteration checked;
        Contents contents;
        PlanPayload payload;
    };
    [[nodiscard]] PlanPayload payload_at(std::uint64_t position) const;
    /// "draw 0, slot 1, rank 2: ..." with the first of `mismatches`; empty: there is none.
    [[nodiscard]] std::string of(std::uint64_t position, std::vector<std::string> const& mismatches) const;
    /// Collective. All ranks note the `mismatch` of the lowest rank that has one; `most` becomes the largest over
    /// ranks.
    void agree(std::string const& mismatch, std::span<std::int64_t> most, record::Validation& validation);
    [[nodiscard]] bool small() const { return world_payload_ < small_world_payload; }

    Bootstrap& bootstrap_;
    MemorySpace& memory_;
    std::span<Buffers const> slots_;
    std::span<Plan const> plans_;
    record::Fill timed_;
    Bytes world_payload_;
    std::uint64_t most_checked_;
    std::uint64_t own_blocks_ = 0;             // compared on this rank since the last conclude()
    std::uint32_t iteration_ = 0;              // no two checked iterations of a point carry the same payload
    std::vector<PreparedIteration> prepared_;  // by prepare(), until verify()
};

}  // namespace dlmb::measure
