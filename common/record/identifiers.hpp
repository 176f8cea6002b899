// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Identifiers that join lines: of a cell (equal in every launch), and of a launch (random).
#pragma once

#include "common/measure/cell.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dlmb::record {

using measure::CellIdentity;

/// Sorted key=value parts joined with '/', characters A-Z a-z 0-9 . _ = / + - only, at most 1000 bytes (a longer one
/// ends in a hash). Parameters (key "p.<name>") at their preset's value are left out; a byte that is none of A-Z a-z
/// 0-9 . _ - is '+' and two hex digits, so that different identities never share an id.
[[nodiscard]] std::string cell_id(CellIdentity const& identity,
                                  std::map<std::string, std::string> const& preset_values);

/// 64-bit FNV-1a as 16 hex digits, equal on every platform: it ends up in files. Not for security.
[[nodiscard]] std::string stable_hash(std::string_view text);

/// 16 random hex digits.
[[nodiscard]] std::string new_launch_id();

/// "2026-01-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace dlmb::record
