// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Closed intervals: the only form of range in a tuning table. There is no nearest size and no clamping.
#pragma once

#include "common/base/units.hpp"

#include <compare>
#include <cstdint>
#include <limits>

namespace dlmb::tuning {

/// From `min` to `max`, both included.
template <class Number>
struct Interval {
    Number min{};
    Number max{};
    [[nodiscard]] constexpr bool contains(Number value) const { return min <= value && value <= max; }
    [[nodiscard]] constexpr bool meets(Interval const& other) const { return min <= other.max && other.min <= max; }
    [[nodiscard]] constexpr bool covers(Interval const& other) const { return min <= other.min && other.max <= max; }
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Interval const&) const = default;
};

/// Bytes in the basis of the operation (basis_of). A `max` of no_limit is written as null.
using ByteInterval = Interval<Bytes>;
using CountInterval = Interval<std::uint64_t>;
using RatioInterval = Interval<double>;

inline constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

}  // namespace dlmb::tuning
