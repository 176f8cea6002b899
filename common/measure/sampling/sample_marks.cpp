// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/sampling/sample_marks.hpp"

namespace dlmb::measure {

LargestWords largest_words(RankMarks const& marks, Rank rank) {
    return {-marks.enter, marks.enter, marks.done, packed({marks.done - marks.enter, rank})};
}

SampleTimes sample_times(std::span<std::int64_t const, 4> largest, std::int64_t sum_ns, int ranks) {
    Nanoseconds const first_enter = -largest[0];
    Nanoseconds const last_enter = largest[1];
    Nanoseconds const last_done = largest[2];
    RankedDuration const longest = unpacked(largest[3]);
    SampleTimes times;
    times.span = last_done - first_enter;
    times.max_rank = longest.duration_ns;
    times.last_arrival = last_done - last_enter;
    times.skew = last_enter - first_enter;
    if (sum_ns > 0) {
        times.imbalance_time =
            static_cast<double>(longest.duration_ns) * static_cast<double>(ranks) / static_cast<double>(sum_ns);
    }
    times.straggler = longest.rank;
    times.first_enter = first_enter;
    return times;
}

}  // namespace dlmb::measure
