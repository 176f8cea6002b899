// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Patterns by the name that a subcommand is given.
#pragma once

#include "patterns/pattern.hpp"

#include <string>

namespace dlmb::app::predict {

/// Throws UsageError with the nearest names.
[[nodiscard]] PatternType const& pattern_named(std::string const& name);

}  // namespace dlmb::app::predict
