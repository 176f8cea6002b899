// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// So that a test reads "20 * ms".
#pragma once

#include "common/base/units.hpp"

namespace dlmb::measure {

inline constexpr Nanoseconds us = 1'000;
inline constexpr Nanoseconds ms = 1'000'000;
inline constexpr Nanoseconds s = 1'000'000'000;

}  // namespace dlmb::measure
