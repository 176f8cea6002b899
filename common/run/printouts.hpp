// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts that are printed instead of measuring: --version, --list-presets, and --plan, the plans and the traffic matrix
// of all ranks, computed in this process. Needs neither MPI nor a GPU.
#pragma once

#include "common/formats/plan/plan_source.hpp"
#include "common/run/options/options.hpp"
#include "patterns/pattern.hpp"

#include <string>
#include <string_view>

namespace dlmb::run {

[[nodiscard]] std::string version_text(std::string_view program);
[[nodiscard]] std::string preset_table(PatternType const& type);

/// Writes the plans rank by rank, checked against each other where all of them fit into memory. Throws UsageError when
/// the options name more than one point, before anything is written.
void print_plans(PatternType const& type, Options const& options, TextSink const& sink);

}  // namespace dlmb::run
