// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs single iterations whose payload is coded beforehand and verified afterwards on every rank, so that all ranks
// know of a mismatch anywhere. Happens before and after timing, never between samples.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/cell_result.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::measure {

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
    /// Collective. After several of these: adds how many blocks they compared, and puts into the buffers what timed
    /// iterations are to find, where that is not what checked ones leave.
    void conclude(Validation& validation);

private:
    [[nodiscard]] bool small() const { return world_payload_ < small_world_payload; }

    Bootstrap& bootstrap_;
    MemorySpace& memory_;
    std::span<Buffers const> slots_;
    std::span<Plan const> plans_;
    Fill timed_;
    Bytes world_payload_;
    std::uint64_t own_blocks_ = 0;  // compared on this rank since the last conclude()
    std::uint32_t iteration_ = 0;   // no two checked iterations of a point carry the same payload
};

}  // namespace dlmb::measure
