// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a sample is, in words: what decides which cells may be compared.
#pragma once

#include "common/measure/runner.hpp"
#include "common/measure/sampler.hpp"

#include <string>

namespace dlmb::measure {

/// Of the samples that `sampler` takes from now on.
[[nodiscard]] std::string definition_of(Mode mode, Sampler const& sampler);

}  // namespace dlmb::measure
