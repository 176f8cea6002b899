// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One small launch as values: what the unit tests check and what results-schema/examples shows. Traffic, summaries and
// rates are computed from the samples and sizes here; the samples themselves are made up.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/formats/record/record.hpp"

#include <vector>

namespace dlmb::record {

[[nodiscard]] Launch sample_launch();
[[nodiscard]] Launch sample_gpu_launch();    // the same with two GPUs per node, one of them far from its rank
[[nodiscard]] Record sample_cell();          // ok
[[nodiscard]] Record sample_skipped_cell();  // no CUDA device
[[nodiscard]] Record sample_invalid_cell();  // a wrong byte
[[nodiscard]] End sample_end();

/// Every operation once, for two ranks of a world of four: the group is {1, 3}.
[[nodiscard]] std::vector<Plan> sample_plans();
[[nodiscard]] PlanHeader sample_plan_header();

}  // namespace dlmb::record
