// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Result lines as values again: the inverse of json.hpp.
#pragma once

#include "common/record/json_parts.hpp"
#include "common/record/record.hpp"

namespace dlmb::record {

/// Throw nlohmann::json::exception or UsageError when a field is missing or has the wrong type.
[[nodiscard]] Launch launch_from(Json const& line);
[[nodiscard]] Record record_from(Json const& line);
[[nodiscard]] End end_from(Json const& line);

}  // namespace dlmb::record
