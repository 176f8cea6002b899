// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/sizes.hpp"

#include <algorithm>

namespace dlmb::moe_alltoall {

Bytes dispatch_row_bytes(RowFormat format, std::uint64_t hidden) {
    constexpr std::uint64_t block = 128;
    switch (format) {
    case RowFormat::fp8:
        return hidden + 4 * ((hidden + block - 1) / block);
    case RowFormat::fp32:
        return 4 * hidden;
    case RowFormat::bf16:
    case RowFormat::fp16:
        break;
    }
    return 2 * hidden;
}

Bytes combine_row_bytes(RowFormat format, std::uint64_t hidden) {
    return dispatch_row_bytes(format == RowFormat::fp8 ? RowFormat::bf16 : format, hidden);
}

std::uint64_t capacity(std::uint64_t tokens, std::uint64_t experts, std::uint64_t top_k, CapacityRule rule) {
    __extension__ using Wide = unsigned __int128;  // 2^32 tokens times 2^16 picks times a factor in millionths
    Wide const numerator = Wide{tokens} * top_k * rule.factor;
    Wide const denominator = Wide{experts} * 1'000'000;
    return std::max(static_cast<std::uint64_t>((numerator + denominator - 1) / denominator), rule.min);
}

}  // namespace dlmb::moe_alltoall
