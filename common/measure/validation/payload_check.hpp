// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs single iterations whose payload is coded beforehand and verified afterwards on every rank, so that all ranks
// know of a mismatch anywhere: before timing and after it. While a cell is timed, one iteration of each visit is
// verified likewise: its payload is laid before the chunk of samples that it belongs to, and looked at behind that.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/cell_result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlmb::measure {

/// The iterations of one chunk. Iteration i of a cell runs at position i mod (positions).
struct TimedIterations {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t unrecorded = 0;  // at the positions before the first one
};

/// One timed iteration that is looked at.
struct TimedLook {
    std::uint64_t position = 0;
    PayloadAge age;  // when the chunk is over
};

/// One of `iterations`, the last one of its chunk in its slot; any of these by `random`. Needs an iteration.
[[nodiscard]] TimedLook choose_look(std::uint32_t random, TimedIterations const& iterations, std::uint64_t draws,
                                    std::uint64_t slots);

class PayloadCheck {
public:
    /// Of the draw with the most payload, over all ranks.
    static constexpr Bytes small_world_payload = Bytes{256} << 20;
    static constexpr Bytes checked_world_payload = Bytes{1} << 30;

    /// Collective. The arguments must outlive it.
    PayloadCheck(Bootstrap& bootstrap, MemorySpace& memory, std::span<Buffers const> slots, std::span<Plan const> plans,
                 Fill timed);

    /// Positions to check before timing, which take every draw once, and after it, which take every draw in as many
    /// slots as a gigabyte of the world's payload allows, most often all. Where that payload is large, one position
    /// before and another after.
    [[nodiscard]] std::vector<std::uint64_t> before() const;
    [[nodiscard]] std::vector<std::uint64_t> after() const;

    /// Collective. One iteration at `position`, adding what it found to `validation` alike on all ranks. Returns what
    /// the iteration took on the slowest rank.
    Nanoseconds run(std::uint64_t position, CompiledPlan& compiled, Validation& validation);
    /// Collective. Puts the payload of one of `iterations` into its slot; nothing (nullopt) with other contents than
    /// random ones, which no check can tell apart.
    [[nodiscard]] std::optional<TimedLook> lay(std::uint32_t random, TimedIterations const& iterations);
    /// Collective. Behind these iterations. `again`: some of them were made again since.
    void look(TimedLook const& look, bool again, Validation& validation);

    /// Collective. After several of these: adds how many blocks they compared, and puts into the buffers what timed
    /// iterations are to find, where that is not what checked ones leave.
    void conclude(Validation& validation);

private:
    /// Collective. Tells all ranks of the first of `mismatches` on any, and returns the largest `duration`.
    Nanoseconds agree(std::uint64_t position, std::vector<std::string> const& mismatches, Nanoseconds duration,
                      Validation& validation);
    [[nodiscard]] bool small() const { return world_payload_ < small_world_payload; }

    Bootstrap& bootstrap_;
    MemorySpace& memory_;
    std::span<Buffers const> slots_;
    std::span<Plan const> plans_;
    Fill timed_;
    Bytes world_payload_;
    std::uint64_t own_blocks_ = 0;  // compared on this rank since the last conclude()
    std::uint32_t iteration_ = 0;   // no two checked iterations of a point carry the same payload
    std::uint32_t laid_ = 0;        // the one whose payload lay() put down
};

}  // namespace dlmb::measure
