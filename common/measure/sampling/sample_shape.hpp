// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one sample of a cell consists of: chosen once after the warm-up, and said in words, which decide which cells may
// be compared.
#pragma once

#include "common/measure/runner.hpp"
#include "common/measure/sampling/sampler.hpp"

#include <cstdint>
#include <string>

namespace dlmb::measure {

struct SampleShape {
    std::uint64_t iterations = 1;  // per sample
    std::uint64_t unrecorded = 0;  // iterations before each chunk, to leave what the pause between chunks did
};

/// Samples of several iterations: in stream mode, and where a device's clock ticks too coarsely for one iteration.
/// `iteration_ns`: the warm iteration. `device_driven`: the plan needs no host while it runs.
[[nodiscard]] SampleShape sample_shape(RunnerOptions const& options, std::uint64_t draws, double iteration_ns,
                                       bool device_driven = false);

/// Of the samples that `sampler` takes from now on.
[[nodiscard]] std::string definition_of(Mode mode, Sampler const& sampler);

}  // namespace dlmb::measure
