// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace dlmb::predict {

/// Since the start of a simulation, or how long something takes.
using Picoseconds = std::int64_t;
inline constexpr Picoseconds never = std::numeric_limits<Picoseconds>::max();

}  // namespace dlmb::predict
