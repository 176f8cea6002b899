// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Names of one launch: a random id and the time it began.
#pragma once

#include <string>

namespace dlmb::record {

/// 16 random hex digits.
[[nodiscard]] std::string new_launch_id();

/// "2026-01-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace dlmb::record
