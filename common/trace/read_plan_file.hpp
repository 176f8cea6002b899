// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans read from the object of --plan json (results-schema/plan.schema.json), plain or compressed.
#pragma once

#include "common/plan/plan.hpp"

#include <filesystem>
#include <vector>

namespace dlmb::trace {

/// The plans of all ranks, which validate() accepts. Steps lie in shared buffers: the file does not have the plan's
/// own. Throws UsageError for what is no such file, is damaged, or does not fit together.
[[nodiscard]] std::vector<Plan> read_plan_file(std::filesystem::path const& path);

}  // namespace dlmb::trace
