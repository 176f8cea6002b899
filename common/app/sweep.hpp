// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The points of a sweep: every preset with every combination of the listed parameter values.
#pragma once

#include "common/app/options.hpp"
#include "patterns/pattern.hpp"

#include <string>
#include <vector>

namespace dlmb::app {

struct Variant {
    std::string preset;        // empty: none
    Parameters parameters;     // resolved, all of them; a size is in bytes without a suffix
    Parameters preset_values;  // what the preset alone resolves to: the cell id leaves these out
    std::string title;         // "deepseek-v3 tokens=128", "operation=allreduce 64 K": preset, swept values, size
};

/// By the parameters' names, the last one fastest; ranges of sizes (ParameterKind::sizes) are expanded and run fastest
/// of all. Throws UsageError.
[[nodiscard]] std::vector<Variant> expand_sweep(PatternType const& type, Options const& options);

}  // namespace dlmb::app
