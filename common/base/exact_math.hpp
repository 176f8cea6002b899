// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that decide counts, from IEEE + - * / only: libm differs by an ulp between systems, and one ulp routes a
// token elsewhere. Good to about 1e-15; not made to be fast, and not for timing statistics.
#pragma once

#include <cstdint>

namespace dlmb::exact {

/// Natural logarithm of a normal, positive number.
[[nodiscard]] double log(double x);

/// e^x for |x| <= 700; beyond, the result at that limit.
[[nodiscard]] double exp(double x);

/// x^y for x > 0.
[[nodiscard]] double pow(double x, double y);

/// The x at which a standard normal variable is below x with probability p; 1e-12 <= p <= 1 - 1e-12.
[[nodiscard]] double normal_quantile(double p);

/// 0 <= x < 2^63; halves go to the even neighbour.
[[nodiscard]] std::uint64_t round_half_even(double x);

}  // namespace dlmb::exact
