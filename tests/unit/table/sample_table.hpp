// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A small table with every kind of rule and of condition: what the unit tests check and what
// results-schema/examples/tuning-table.json shows. Its numbers are made up.
#pragma once

#include "common/formats/table/table.hpp"

namespace dlmb::tuning {

[[nodiscard]] TuningTable sample_table();

/// A rule of a person: no evidence, any size.
[[nodiscard]] Rule plain_rule(std::string id, std::string scope, TunedOperation operation);

}  // namespace dlmb::tuning
