// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One cell of a result file as an observation.
#pragma once

#include "common/record/result_reader.hpp"
#include "common/tuning/build/observation.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dlmb::tuning {

/// Of a cell of the pattern `collective`. Throws UsageError when a parameter is missing.
[[nodiscard]] Observation observation_from(record::Cell const& cell, std::string const& launch_id);

/// Throws UsageError, naming `what`, for text that is none.
[[nodiscard]] std::uint64_t whole_number(std::string_view text, std::string_view what);

}  // namespace dlmb::tuning
