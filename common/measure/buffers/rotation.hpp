// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many sets of buffers (slots) the iterations of a cell take in turn, and how slots and draws go together. Position
// p of a pass runs draw p mod (draws) in slot p mod (slots); a pass is as long as it takes to end where it began.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>

namespace dlmb::measure {

/// The slots together are to be this many times the cache.
inline constexpr std::uint64_t caches_in_pool = 3;
/// A slot costs a compiled plan and a check.
inline constexpr std::uint64_t most_slots = 32;
/// Of buffers so small that `most_slots` would not even fill the cache once: they stay in it whatever is done, and more
/// slots would cost set-up time only.
inline constexpr std::uint64_t few_slots = 4;
/// In the compiled plans of one candidate together.
inline constexpr std::uint64_t most_compiled_steps = 16384;
/// Largest pool of one rank.
inline constexpr Bytes most_pool_bytes = Bytes{2} << 30;

/// That make the pool `caches_in_pool` times `cache_bytes` (0: unknown, a large one is assumed), within the limits
/// above for a plan of `steps` steps; 1 where one slot is large enough by itself.
[[nodiscard]] std::uint64_t slots_wanted(Bytes slot_bytes, Bytes cache_bytes, std::uint64_t steps);

/// Slots of `slot_bytes` in a pool of a rank that may use `share_bytes` of memory; at least 1.
[[nodiscard]] std::uint64_t slots_affordable(Bytes slot_bytes, Bytes share_bytes);

/// `wanted` rounded so that a pass is short: up where `affordable`, else down. More than one whenever both are.
[[nodiscard]] std::uint64_t slots_for(std::uint64_t wanted, std::uint64_t affordable, std::uint64_t draws);

/// Positions of a pass: the least common multiple, so that every pass has the same mix of both.
[[nodiscard]] std::uint64_t positions_of(std::uint64_t draws, std::uint64_t slots);

}  // namespace dlmb::measure
