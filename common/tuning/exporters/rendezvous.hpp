// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One threshold from rules that each hold for a range of sizes.
#pragma once

#include "common/tuning/exporters/carried.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::tuning {

/// A rule that says how messages of its sizes travel: eagerly below `threshold`, by rendezvous from it on.
struct ThresholdRule {
    Rule const* rule = nullptr;
    ByteInterval bytes;
    Bytes threshold = 0;  // no_limit: never by rendezvous
};

/// Reads "65536", "64K" or "inf"; nothing: neither.
[[nodiscard]] std::optional<Bytes> read_threshold(std::string const& text);

/// The threshold that does what all rules say, or nothing where there is none; then all are lost. A threshold has no
/// ends: sizes below eager ones go eagerly, sizes above others by rendezvous. Where no rule says so this is noted.
[[nodiscard]] std::optional<Bytes> common_threshold(std::vector<ThresholdRule> const& rules, std::vector<Lost>& lost);

}  // namespace dlmb::tuning
