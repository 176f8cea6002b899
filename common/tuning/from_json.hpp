// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The two halves of a table from JSON: its rules, and what it says of itself.
#pragma once

#include "common/tuning/json_object.hpp"
#include "common/tuning/table.hpp"

namespace dlmb::tuning {

/// Throws TableError for anything that this program does not know.
[[nodiscard]] Rule rule_from(JsonObject object);

/// Everything but `schema` and `rules`. `tolerant`: unknown fields are passed over.
void read_envelope(JsonObject& object, TuningTable& table, bool tolerant);

}  // namespace dlmb::tuning
