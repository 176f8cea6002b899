// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether samples come from two levels rather than one, so that their median may be of neither.
#pragma once

#include <span>

namespace dlmb::measure {

/// The best split of the values in two classes of at least a tenth each, found on logarithms with 1 % left out at
/// either end.
struct Split {
    double share = 0;     // of the variance that lies between the classes; a normal distribution has 2 / pi
    double distance = 0;  // median of the upper class over that of the lower, minus 1
};
/// Of positive values; all zero below 10 of them or where all are equal.
[[nodiscard]] Split best_split(std::span<double const> values);

/// Share 0.80 or more, and classes 10 % apart or more.
[[nodiscard]] bool is_bimodal(Split const& split);

}  // namespace dlmb::measure
