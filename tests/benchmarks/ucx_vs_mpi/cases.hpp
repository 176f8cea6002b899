// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The traffic of the comparison: groups of cases, each a pattern with its parameters.
#pragma once

#include "patterns/pattern.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::benchmark {

struct Case {
    std::string name;
    PatternType const* type = nullptr;
    std::string preset;
    Parameters parameters;  // beyond the preset
};

/// exchange, matrices, allreduce, reduce_scatter, allgather, broadcast, pipeline.
[[nodiscard]] std::span<std::string_view const> group_names();

/// The cases of a group. `sizes`, where not empty, replace the group's own; matrices and pipeline have none.
/// Throws UsageError for an unknown group.
[[nodiscard]] std::vector<Case> cases_of(std::string_view group, std::vector<Bytes> const& sizes);

}  // namespace dlmb::benchmark
