// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A hash that is the same on every platform and in every version of this program: it ends up in files. Not for
// security.
#pragma once

#include <string>
#include <string_view>

namespace dlmb::record {

/// 64-bit FNV-1a as 16 hex digits.
[[nodiscard]] std::string stable_hash(std::string_view text);

}  // namespace dlmb::record
