// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a point can be held ready beside others, so that its buffers are those that it would have alone and enough is
// left for what backends need.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>

namespace dlmb::app {

/// What points take of a rank, the most of all ranks. All ranks must decide alike, so what goes in is the same on all.
struct Load {
    Bytes pools = 0;
    std::uint64_t compiled_steps = 0;  // of all cells and positions: backends number them
};

/// What there was before the first point of a batch.
struct Room {
    Bytes pool_limit = 0;  // what the buffers of one point may take
    Bytes host_free = 0;   // on the node with the least; 0: unknown there
};

/// UCX tags tell 2^20 operations apart that are compiled at one time.
inline constexpr std::uint64_t most_steps_of_a_batch = std::uint64_t{1} << 18U;

/// `host_free_now`: with `ready` in place, on the node with the least.
[[nodiscard]] bool fits_beside(Load const& ready, Load const& next, Room const& room, Bytes host_free_now);

}  // namespace dlmb::app
