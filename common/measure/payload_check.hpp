// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs single iterations whose payload is coded beforehand and verified afterwards on every rank, so that all ranks
// know of a mismatch anywhere. Happens before and after timing, never between samples.
#pragma once

#include "common/backend/backend.hpp"
#include "common/measure/result.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::measure {

/// Collective. Writes every byte that the plans name once: memory never written is one shared page of zeros to the
/// kernel, and sending it costs less than sending data.
void touch_buffers(MemorySpace& memory, Buffers const& buffers, std::span<Plan const> plans);

class PayloadCheck {
public:
    /// Collective. The arguments must outlive it.
    PayloadCheck(Bootstrap& bootstrap, MemorySpace& memory, Buffers const& buffers, std::span<Plan const> plans);

    /// Draws to check before and after timing: all of them where the world's payload is small; else the first one
    /// before and another after.
    [[nodiscard]] std::vector<std::uint32_t> before() const;
    [[nodiscard]] std::vector<std::uint32_t> after() const;

    /// Collective. One iteration of draw `draw`, adding what it found to `validation` alike on all ranks. Returns what
    /// the iteration took on the slowest rank.
    Nanoseconds run(std::uint32_t draw, CompiledPlan& compiled, Validation& validation);

private:
    void agree(std::uint32_t draw, std::vector<std::string> const& mismatches, std::uint64_t blocks,
               Validation& validation);

    Bootstrap& bootstrap_;
    MemorySpace& memory_;
    Buffers const& buffers_;
    std::span<Plan const> plans_;
    bool all_draws_;
    std::uint32_t iteration_ = 0;  // no two checked iterations of a contest carry the same payload
};

}  // namespace dlmb::measure
