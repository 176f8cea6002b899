// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Where no processor counter is known: the clock itself.
#pragma once

#include "common/base/clock.hpp"

namespace dlmb {

using Ticks = std::uint64_t;

[[nodiscard]] inline Ticks read_ticks() {
    return static_cast<Ticks>(now_ns());
}

}  // namespace dlmb
