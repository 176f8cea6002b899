// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How uneven a set of loads is. Computed from the counts a plan really has, never from the skew that was asked for.
#pragma once

#include <cstdint>
#include <span>

namespace dlmb {

/// Gini coefficient: 0 for equal loads, (n - 1) / n when one bin has all; 0 when there is no load at all.
[[nodiscard]] double gini(std::span<double const> loads);
[[nodiscard]] double gini(std::span<std::uint64_t const> loads);

/// Largest load over the mean; 1 when there is no load at all.
[[nodiscard]] double max_over_mean(std::span<double const> loads);
[[nodiscard]] double max_over_mean(std::span<std::uint64_t const> loads);

}  // namespace dlmb
