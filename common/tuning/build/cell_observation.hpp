// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One cell of a result file as an observation.
#pragma once

#include "common/record/result_reader.hpp"
#include "common/tuning/build/observation.hpp"

#include <string>

namespace dlmb::tuning {

/// Of a cell of the pattern `collective`. Throws UsageError when a parameter is missing.
[[nodiscard]] Observation observation_from(record::Record const& cell, std::string const& launch_id);

}  // namespace dlmb::tuning
