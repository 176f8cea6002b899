// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The calibration of a launch: what is measured before the first cell, and what of it a person should know.
#pragma once

#include "common/measure/calibration/calibration.hpp"
#include "common/measure/environment/capture.hpp"
#include "common/run/cells.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::run {

/// Collective. Absent with --calibration off. The watchdog is armed when it returns.
[[nodiscard]] std::optional<record::Calibration> calibrate_launch(Bootstrap& bootstrap, Options const& options,
                                                                  std::vector<OpenedBackend> const& backends,
                                                                  measure::DeviceUse const& device,
                                                                  measure::Watchdog& watchdog);

/// One warning about the ranks whose processor also does other things; empty when all are quiet.
[[nodiscard]] std::vector<std::string> quiet_warnings(record::Calibration const& calibration);

/// "# noise floor: ..." and what belongs to it, whole lines; empty without a calibration.
[[nodiscard]] std::string calibration_line(std::optional<record::Calibration> const& calibration);

}  // namespace dlmb::run
