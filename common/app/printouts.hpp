// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The texts of --version and --list-presets.
#pragma once

#include "patterns/pattern.hpp"

#include <string>
#include <string_view>

namespace dlmb::app {

[[nodiscard]] std::string version_text(std::string_view program);
[[nodiscard]] std::string preset_table(PatternType const& type);

}  // namespace dlmb::app
