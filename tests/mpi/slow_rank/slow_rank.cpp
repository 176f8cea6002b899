// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Preloaded before an MPI program it delays MPI_Startall on some ranks (the MPI profiling interface), which plans start
// their persistent requests with and nothing else calls: DLMB_TEST_SLOW=FIRST-LAST:MICROSECONDS:N, these ranks in one
// of N calls. Which ones is random, as iterations that are not recorded come at a regular beat; the seed is fixed.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

namespace {

struct Slowness {
    int first = 0;  // rank
    int last = 0;
    int microseconds = 0;
    unsigned one_in = 1;
};

Slowness asked_for() {
    Slowness slowness;
    char const* const text = std::getenv("DLMB_TEST_SLOW");
    if (text == nullptr || std::sscanf(text, "%d-%d:%d:%u", &slowness.first, &slowness.last, &slowness.microseconds,
                                       &slowness.one_in) != 4) {
        std::fputs("slow_rank: DLMB_TEST_SLOW is not FIRST-LAST:MICROSECONDS:N\n", stderr);
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
    if (slowness.first <= rank && rank <= slowness.last && draw() % slowness.one_in == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(slowness.microseconds));
    }
    return PMPI_Startall(count, requests);
}
