// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Message sizes as the command line says them: "[MIN:]MAX", a range that doubles.
#pragma once

#include "common/base/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dlmb::app {

/// MIN, 2 MIN, 4 MIN ... up to and including MAX, which is the last even where doubling passes it. "N:N" is one size.
/// A MIN of 0 is followed by 8. A lone MAX starts at 8 B, or is alone below that: 8 is the smallest size that holds
/// whole elements of every type (OSU starts at 1 because it sends chars). Throws UsageError whose text starts with
/// `option`.
[[nodiscard]] std::vector<Bytes> expand_sizes(std::string_view text, std::string_view option);

/// "8 B", "64 K" or "1536 B": exact, in the largest unit that divides it.
[[nodiscard]] std::string exact_size(Bytes bytes);

}  // namespace dlmb::app
