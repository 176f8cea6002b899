// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The two halves of a table as JSON: the inverse of from_json.hpp. Absent values are left out.
#pragma once

#include "common/tuning/json_object.hpp"
#include "common/tuning/table.hpp"

namespace dlmb::tuning {

[[nodiscard]] Json rule_json(Rule const& rule);

/// Everything but `rules`.
[[nodiscard]] Json envelope_json(TuningTable const& table);

}  // namespace dlmb::tuning
