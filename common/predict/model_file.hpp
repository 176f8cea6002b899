// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A machine model as JSON: results-schema/machine-model.schema.json.
#pragma once

#include "common/predict/machine_model.hpp"

#include <string>
#include <string_view>

namespace dlmb::predict {

[[nodiscard]] std::string to_text(MachineModel const& model);

/// Throws UsageError "NAME: what is wrong".
[[nodiscard]] MachineModel read_model(std::string_view text, std::string_view name);

}  // namespace dlmb::predict
