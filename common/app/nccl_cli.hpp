// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// `--cli nccl` as the first option: the short letters of nccl-tests, translated to ours.
#pragma once

#include <string>
#include <vector>

namespace dlmb::app {

/// Arguments without the program name. Unchanged unless they begin with `--cli nccl`. Throws UsageError for a letter
/// that has no meaning here.
[[nodiscard]] std::vector<std::string> without_nccl_letters(std::vector<std::string> arguments);

}  // namespace dlmb::app
