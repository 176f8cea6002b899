// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// In which order a round visits its cells: shuffled, and the same on every rank, compiler and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlmb::measure {

/// A permutation of 0 .. count-1, a function of its arguments alone.
[[nodiscard]] std::vector<std::size_t> round_order(std::size_t count, std::uint64_t seed, std::uint64_t round);

}  // namespace dlmb::measure
