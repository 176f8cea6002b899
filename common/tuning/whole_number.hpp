// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace dlmb::tuning {

/// Throws UsageError that says `what` it should be.
[[nodiscard]] std::uint64_t whole_number(std::string_view text, std::string_view what);

}  // namespace dlmb::tuning
