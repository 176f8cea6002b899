// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Counts by rank, expert or draw, as patterns exchange them at set-up and sum them up over ranks.
#pragma once

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb {

[[nodiscard]] inline std::uint64_t sum_of(std::span<std::uint64_t const> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Of at least one.
[[nodiscard]] inline std::uint64_t largest_of(std::span<std::uint64_t const> counts) {
    return *std::max_element(counts.begin(), counts.end());
}

/// Bytes of so many elements, rows or entries each.
[[nodiscard]] inline std::vector<Bytes> bytes_of(std::span<std::uint64_t const> counts, Bytes each) {
    std::vector<Bytes> bytes(counts.begin(), counts.end());
    for (Bytes& size : bytes) {
        size *= each;
    }
    return bytes;
}

/// Throws Error unless the statistics of a pattern, summed over ranks, are as many as it has.
inline void require_statistics(std::string_view pattern, std::span<std::uint64_t const> summed, std::size_t expected) {
    if (summed.size() != expected) {
        throw Error(fmt::format("{}: {} counts in the statistics, expected {}", pattern, summed.size(), expected));
    }
}

}  // namespace dlmb
