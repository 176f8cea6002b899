// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which phase took longest, sample by sample.
#pragma once

#include "common/measure/result.hpp"

#include <optional>
#include <span>
#include <string>

namespace dlmb::measure {

/// The phase that took longest most often, the earliest of several. `samples`: [sample * labels + label], no_such_phase
/// where a sample has none of that label. None without samples.
[[nodiscard]] std::optional<CriticalPhase> critical_phase(std::span<std::string const> labels,
                                                          std::span<Nanoseconds const> samples);

}  // namespace dlmb::measure
