// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one sample of a cell consists of, chosen once after the warm-up.
#pragma once

#include "common/measure/runner.hpp"

#include <cstdint>

namespace dlmb::measure {

struct SampleShape {
    std::uint64_t iterations = 1;  // per sample
    std::uint64_t unrecorded = 0;  // iterations before each chunk, to leave what the pause between chunks did
};

/// Samples of several iterations: in stream mode, and where a device's clock ticks too coarsely for one iteration.
/// `iteration_ns`: the warm iteration. `device_driven`: the plan needs no host while it runs.
[[nodiscard]] SampleShape sample_shape(RunnerOptions const& options, std::uint64_t draws, double iteration_ns,
                                       bool device_driven = false);

}  // namespace dlmb::measure
