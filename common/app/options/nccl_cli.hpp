// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// `--cli nccl` as the first option: letters and long names of nccl-tests, translated to ours.
#pragma once

#include "patterns/pattern.hpp"

#include <string>
#include <vector>

namespace dlmb::app {

/// Arguments without the program name. Unchanged unless they begin with `--cli nccl`. -b and -e together become the
/// message sizes. Throws UsageError for what has no meaning here, or not for this pattern.
[[nodiscard]] std::vector<std::string> without_nccl_letters(PatternType const& type,
                                                            std::vector<std::string> arguments);

}  // namespace dlmb::app
