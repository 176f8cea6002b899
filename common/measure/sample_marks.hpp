// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// When each rank entered and left a sample, and what that says about the sample: the derived times of all ranks from
// one maximum and one sum over ranks.
#pragma once

#include "common/base/units.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace dlmb::measure {

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
