// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How OSU Micro-Benchmarks measure an operation, as far as it differs between their programs. Read in 7.3 and 7.4,
// c/mpi/collective/blocking/*.c, c/mpi/pt2pt/standard/osu_latency.c and c/util/osu_util.h.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>

namespace dlmb {

struct OsuProgram {
    /// Ranks wait for each other behind every call, outside its time. osu_barrier and the programs for pairs do not.
    bool barrier = true;
    /// Of pairs, the ranks of the first half alone take times. Collectives: all ranks do.
    bool pairs = false;
    bool first_rank = false;  // rank 0 alone takes times
    int divisor = 1;          // of the time of a call: 2 where a message goes there and back
    std::uint64_t iterations = 100;
    std::uint64_t warmup = 10;

    [[nodiscard]] constexpr int ranks_with_times(int ranks) const { return first_rank ? 1 : pairs ? ranks / 2 : ranks; }
    [[nodiscard]] constexpr bool takes_times(Rank rank, int ranks) const { return rank < ranks_with_times(ranks); }
};

/// LARGE_MESSAGE_SIZE: longer messages are sent a tenth as often.
inline constexpr Bytes osu_large_message = 8192;

/// COLL_LOOP_*, COLL_SKIP_*.
[[nodiscard]] constexpr OsuProgram osu_collective(Bytes message) {
    return message > osu_large_message ? OsuProgram{} : OsuProgram{.iterations = 1000, .warmup = 100};
}

/// LAT_LOOP_*, LAT_SKIP_*: half of a round trip on the side that begins.
[[nodiscard]] constexpr OsuProgram osu_latency(Bytes message) {
    bool const large = message > osu_large_message;
    return {false, true, false, 2, large ? std::uint64_t{1000} : 10000, large ? std::uint64_t{10} : 100};
}

/// BW_LOOP_*, BW_SKIP_*, of osu_bw.c and osu_bibw.c. osu_mbw_mr.c has a barrier before every window.
[[nodiscard]] constexpr OsuProgram osu_windows(Bytes message, bool barrier) {
    bool const large = message > osu_large_message;
    return {barrier, true, true, 1, large ? std::uint64_t{20} : 100, large ? std::uint64_t{2} : 10};
}

}  // namespace dlmb
