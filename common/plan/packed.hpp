// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Equal blocks that lie one behind the other: what libraries' equal-split all-to-all takes.
#pragma once

#include "common/plan/plan.hpp"

#include <optional>
#include <span>

namespace dlmb {

struct Packed {
    Bytes offset = 0;       // of the first block
    Bytes block_bytes = 0;  // of each
};

/// Nothing unless `blocks` are one for each of `members` ranks, equal and adjacent. No blocks at all are packed blocks
/// of 0 bytes.
[[nodiscard]] std::optional<Packed> packed(std::span<Block const> blocks, std::size_t members);

}  // namespace dlmb
