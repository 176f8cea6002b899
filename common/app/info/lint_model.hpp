// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info --lint-model: what of a model's sizes does not fit.
#pragma once

#include "common/app/info/info.hpp"
#include "patterns/model_parameters.hpp"

#include <span>
#include <string>

namespace dlmb::app {

/// What all presets by this name, one per pattern, tell of the model together. Throws UsageError with the nearest
/// names.
[[nodiscard]] ModelShape model_of_presets(std::string const& name, std::span<PatternType const* const> patterns);

/// {"model", "source", "fits", "findings": [{"fault", "what"}]}.
[[nodiscard]] InfoJson lint_json(ModelShape const& model, Parallelism const& parallel);
[[nodiscard]] std::string lint_text(InfoJson const& findings);

}  // namespace dlmb::app
