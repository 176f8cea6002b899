// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one sample of a cell consists of, chosen once after the warm-up.
#pragma once

#include "common/measure/runner.hpp"

#include <cstdint>

namespace dlmb::measure {

struct SampleShape {
    std::uint64_t iterations = 1;  // per sample; more than one in stream mode only
    std::uint64_t unrecorded = 0;  // iterations before each chunk, to leave what the pause between chunks did
};

/// `iteration_ns`: the warm iteration.
[[nodiscard]] SampleShape sample_shape(RunnerOptions const& options, std::uint64_t draws, double iteration_ns);

}  // namespace dlmb::measure
