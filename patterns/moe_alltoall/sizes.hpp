// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes of one row and rows of one capacity slot: the published formulas, nothing else.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>

namespace dlmb::moe_alltoall {

enum class RowFormat { bf16, fp16, fp8, fp32 };

/// A token's row on its way to an expert. fp8: one byte per value and one fp32 scale per block of 128 values.
[[nodiscard]] Bytes dispatch_row_bytes(RowFormat format, std::uint64_t hidden);

/// The row on its way back: as dispatched, but bf16 where dispatch was fp8.
[[nodiscard]] Bytes combine_row_bytes(RowFormat format, std::uint64_t hidden);

/// Bytes of the routing probability that may travel with a row.
inline constexpr Bytes probability_bytes = 4;

/// A capacity factor in millionths, so that rounding up is exact.
using Millionths = std::uint64_t;

struct CapacityRule {
    Millionths factor = 1'000'000;
    std::uint64_t min = 4;
};

/// Rows per (source rank, expert): max(ceil(tokens / experts * factor * top_k), min), DeepSpeed's rule. Factor 0 makes
/// `min` the fixed capacity; min 0 makes it Megatron's rule.
[[nodiscard]] std::uint64_t capacity(std::uint64_t tokens, std::uint64_t experts, std::uint64_t top_k,
                                     CapacityRule rule);

}  // namespace dlmb::moe_alltoall
