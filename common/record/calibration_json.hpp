// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A calibration as JSON and back.
#pragma once

#include "common/measure/calibration/calibration.hpp"
#include "common/record/json_parts.hpp"

#include <optional>

namespace dlmb::record {

/// Null without a calibration. Throws Error naming the field if a figure is not finite.
[[nodiscard]] Json calibration_json(std::optional<measure::Calibration> const& calibration);
[[nodiscard]] std::optional<measure::Calibration> calibration_from(Json const& value);

}  // namespace dlmb::record
