// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace dlmb {

/// More than any machine has.
inline constexpr int most_processing_units = 1 << 20;

/// The processing units that the calling thread may run on, ascending, by the kernel's numbers. Throws Error where the
/// kernel tells none.
[[nodiscard]] std::vector<int> usable_processing_units();

}  // namespace dlmb
