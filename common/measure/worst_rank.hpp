// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Fractions of nanoseconds through the bootstrap's integer reduction.
#pragma once

#include "common/measure/agree.hpp"

#include <cmath>

namespace dlmb::measure {

/// Collective. The largest over ranks, rounded to picoseconds.
[[nodiscard]] inline double worst_rank(Bootstrap& bootstrap, double ns) {
    constexpr double picoseconds = 1000;
    return static_cast<double>(folded(bootstrap, std::llround(ns * picoseconds), Fold::max)) / picoseconds;
}

}  // namespace dlmb::measure
