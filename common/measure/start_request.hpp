// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace dlmb::measure {

/// How samples are to begin. automatic: window where it can be kept and the clock is good for the cell, else barrier.
enum class StartRequest : std::uint8_t { automatic, barrier, window };

}  // namespace dlmb::measure
