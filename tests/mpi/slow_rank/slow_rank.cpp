// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded before an MPI program it delays MPI_Startall on one rank (the MPI profiling interface), which plans start
// their persistent requests with and nothing else calls: DLMB_TEST_SLOW=RANK:MICROSECONDS:N, in one of N calls. Which
// ones is random, as iterations that are not recorded come at a regular beat; the seed is fixed.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

namespace {

struct Slowness {
    int rank = -1;
    int microseconds = 0;
    unsigned one_in = 1;
};

Slowness asked_for() {
    Slowness slowness;
    char const* const text = std::getenv("DLMB_TEST_SLOW");
    if (text == nullptr ||
        std::sscanf(text, "%d:%d:%u", &slowness.rank, &slowness.microseconds, &slowness.one_in) != 3) {
        std::fputs("slow_rank: DLMB_TEST_SLOW is not RANK:MICROSECONDS:N\n", stderr);
        std::abort();
    }
    return slowness;
}

}  // namespace

extern "C" int MPI_Startall(int count, MPI_Request requests[]) {  // NOLINT(readability-identifier-naming): MPI's
    static Slowness const slowness = asked_for();
    static std::minstd_rand draw;
    int rank = -1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == slowness.rank && draw() % slowness.one_in == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(slowness.microseconds));
    }
    return PMPI_Startall(count, requests);
}
