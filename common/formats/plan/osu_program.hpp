// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How OSU Micro-Benchmarks measure an operation, as far as it differs between their programs. Read in 7.3 and 7.4,
// c/mpi/collective/blocking/*.c, c/mpi/pt2pt/standard/*.c and c/util/osu_util.h.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstdint>

namespace dlmb {

struct OsuProgram {
    /// Behind every call, outside its time. None in osu_barrier and in the programs for pairs but osu_mbw_mr.
    int barriers = 1;
    /// True: only the first rank of each pair takes times. False (collectives): all ranks do.
    bool pairs = false;
    int timed_pairs = 0;  // from that of rank 0 on; 0: all
    int divisor = 1;      // of the time of a call: 2 where a message goes there and back
    std::uint64_t iterations = 100;
    std::uint64_t warmup = 10;

    [[nodiscard]] constexpr int ranks_with_times(int ranks) const {
        return !pairs ? ranks : timed_pairs > 0 ? timed_pairs : ranks / 2;
    }
    [[nodiscard]] constexpr bool takes_times(Rank rank, int ranks) const { return rank < ranks_with_times(ranks); }
};

/// LARGE_MESSAGE_SIZE: longer messages are sent less often.
inline constexpr Bytes osu_large_message = 8192;

/// COLL_LOOP_*, COLL_SKIP_*.
[[nodiscard]] constexpr OsuProgram osu_collective(Bytes message) {
    return message > osu_large_message ? OsuProgram{} : OsuProgram{.iterations = 1000, .warmup = 100};
}

/// LAT_LOOP_*, LAT_SKIP_*: half of a round trip on the side that begins.
[[nodiscard]] constexpr OsuProgram osu_latency(Bytes message) {
    bool const large = message > osu_large_message;
    return {0, true, 0, 2, large ? std::uint64_t{1000} : 10000, large ? std::uint64_t{10} : 100};
}

/// BW_LOOP_*, BW_SKIP_*. In osu_bw.c and osu_bibw.c rank 0 takes the time. osu_mbw_mr.c has two barriers before every
/// window, takes the mean over the pairs, and repeats long messages as often as others.
[[nodiscard]] constexpr OsuProgram osu_windows(Bytes message, bool is_rate, int pairs) {
    bool const seldom = message > osu_large_message && !is_rate;
    return {is_rate ? 2 : 0,
            true,
            is_rate ? pairs : 1,
            1,
            seldom ? std::uint64_t{20} : 100,
            seldom ? std::uint64_t{2} : 10};
}

}  // namespace dlmb
