// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/predict/simulator/program.hpp"

#include <string_view>

namespace dlmb::predict {

/// GOAL text as a program: calc in ns, messages by (source, tag), first in first out. Throws UsageError "NAME, line N:
/// what is wrong", also for receives from anybody and tags that are none from 0 to 2^32 - 1.
[[nodiscard]] Program read_goal(std::string_view text, std::string_view name);

}  // namespace dlmb::predict
