// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether sums of floating point come out the same to the bit whenever ranks arrive. The order of additions decides it:
// with operands such as 2^27, 1 and -2^27 every other order gives another sum (Flare, arXiv 2106.15565, section 3:
// reproducibility).
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/memory/memory_space.hpp"

#include <cstdint>
#include <functional>

namespace dlmb::measure {

/// Collective. Runs `iterations` of the compiled plan on the same operands, before each of which every rank waits for
/// another random time, at most `most_jitter_ns`. Returns how many different results the rank with most of them saw, on
/// all ranks; 0: no rank adds floating-point numbers. Sums only; the operands stay in the buffers. `touch` is called
/// once per iteration.
[[nodiscard]] std::uint64_t count_bit_patterns(Bootstrap& bootstrap, MemorySpace& memory, Buffers const& buffers,
                                               Plan const& plan, CompiledPlan& compiled, std::uint64_t iterations,
                                               std::uint64_t seed, std::function<void()> const& touch);
inline constexpr Nanoseconds most_jitter_ns = 100'000;

}  // namespace dlmb::measure
