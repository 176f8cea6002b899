// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A duration and the rank that took it in one integer, so that one maximum over ranks finds both.
#pragma once

#include "common/base/error.hpp"
#include "common/base/units.hpp"

namespace dlmb::measure {

struct RankedDuration {
    Nanoseconds duration_ns = 0;
    Rank rank = 0;
    bool operator==(RankedDuration const&) const = default;
};

inline constexpr int ranked_rank_bits = 20;                                                           // a million ranks
inline constexpr Nanoseconds ranked_duration_most = (Nanoseconds{1} << (63 - ranked_rank_bits)) - 1;  // 2.4 hours
inline constexpr Rank ranked_rank_most = (Rank{1} << ranked_rank_bits) - 1;

/// Ordered by duration; of equal durations the lower rank is the larger value.
[[nodiscard]] inline std::int64_t packed(RankedDuration const& value) {
    if (value.duration_ns < 0 || value.duration_ns > ranked_duration_most || value.rank > ranked_rank_most) {
        throw Error("a sample's duration or rank is outside what a record can hold");
    }
    return (value.duration_ns << ranked_rank_bits) | std::int64_t{ranked_rank_most - value.rank};
}

[[nodiscard]] inline RankedDuration unpacked(std::int64_t value) {
    return {value >> ranked_rank_bits, ranked_rank_most - static_cast<Rank>(value & ranked_rank_most)};
}

}  // namespace dlmb::measure
