// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The one clock of all host timing: raw monotonic, not slewed by NTP, shared by the ranks of a node.
#pragma once

#include "common/base/units.hpp"

#include <ctime>

namespace dlmb {

[[nodiscard]] inline Nanoseconds now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return Nanoseconds{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace dlmb
