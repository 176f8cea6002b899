// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank gets which item (a table, or a slice of its columns), from one load per item. Pure: the same answer on
// every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::dlrm_exchange {

/// Item i on rank i mod ranks.
[[nodiscard]] std::vector<std::size_t> round_robin(std::size_t items, std::size_t ranks);

/// Longest processing time first (Graham 1969): items by falling load, each to the rank with the least so far. The
/// largest total is at most 4/3 - 1/(3 ranks) times the least possible. Ties go to the lower item and the lower rank.
[[nodiscard]] std::vector<std::size_t> longest_first(std::span<std::uint64_t const> loads, std::size_t ranks);

}  // namespace dlmb::dlrm_exchange
