// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// When each rank entered and left a sample, and what that says about the sample: the derived times of all ranks from
// one maximum and one sum over ranks.
#pragma once

#include "common/base/error.hpp"
#include "common/base/units.hpp"

#include <array>
#include <cstdint>
#include <span>

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

/// One rank's times of one sample, on the common clock.
struct RankMarks {
    Nanoseconds enter = 0;   // before the first call
    Nanoseconds posted = 0;  // launch() of the first iteration has returned
    Nanoseconds done = 0;    // this rank's data is complete and usable
};

struct SampleTimes {
    Nanoseconds span = 0;          // last done - first enter
    Nanoseconds max_rank = 0;      // largest over ranks of (done - enter)
    Nanoseconds last_arrival = 0;  // last done - last enter: the cost without what ranks waited for each other
    Nanoseconds skew = 0;          // last enter - first enter
    double imbalance_time = 1;     // largest / mean over ranks of (done - enter)
    Rank straggler = 0;            // the rank of max_rank; the lowest of several
    Nanoseconds first_enter = 0;
};

/// What a rank puts into the maximum over ranks, for each sample.
using LargestWords = std::array<std::int64_t, 4>;
[[nodiscard]] LargestWords largest_words(RankMarks const& marks, Rank rank);

/// From the maxima over ranks and the sum over ranks of (done - enter).
[[nodiscard]] SampleTimes sample_times(std::span<std::int64_t const, 4> largest, std::int64_t sum_ns, int ranks);

}  // namespace dlmb::measure
