// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The 64 bits that pair a send with its receive: kind 4, iteration 20, operation 20, source rank 20. The operation is
// chosen by the sender, unique among its live compiled plans, and told to the receiver when plans are matched.
#pragma once

#include "common/base/units.hpp"

#include <ucp/api/ucp_def.h>

#include <cstdint>

namespace dlmb::ucx {

inline constexpr std::uint64_t tag_field_limit = std::uint64_t{1}
                                                 << 20;  // ranks, operations, iterations before they wrap
inline constexpr ucp_tag_t full_tag_mask = ~ucp_tag_t{0};

enum class TagKind : std::uint8_t { wire_up = 1, payload = 2 };

[[nodiscard]] constexpr ucp_tag_t make_tag(TagKind kind, std::uint64_t operation, Rank source) {
    return (ucp_tag_t{static_cast<std::uint8_t>(kind)} << 60) | (operation << 20) | static_cast<std::uint32_t>(source);
}

/// What an iteration adds to the tag of make_tag. Wraps: messages of one pair are matched in order anyway.
[[nodiscard]] constexpr ucp_tag_t iteration_bits(std::uint64_t iteration) {
    return (iteration % tag_field_limit) << 40;
}

}  // namespace dlmb::ucx
