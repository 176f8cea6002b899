// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Settings of a library that a method can make by itself: the knob of --method and the variable that does the same for
// other programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dlmb::tuning {

/// "UCX_RNDV_THRESH" for the knob "rndv_thresh"; nullopt: the knob is no setting of a library.
[[nodiscard]] std::optional<std::string> variable_of(std::string_view knob);

}  // namespace dlmb::tuning
