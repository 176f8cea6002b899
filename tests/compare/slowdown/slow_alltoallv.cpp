// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// To be preloaded: makes MPI_Alltoallv slower by the factor in SLOW_ALLTOALLV, and nothing else. Each call is followed
// by a busy wait that is a share of what the call itself took.
#include <mpi.h>

#include <chrono>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;

double factor() {
    char const* const text = std::getenv("SLOW_ALLTOALLV");
    return text == nullptr ? 1.0 : std::atof(text);
}

}  // namespace

extern "C" int MPI_Alltoallv(void const* send, int const* send_counts, int const* send_offsets, MPI_Datatype send_type,
                             void* recv, int const* recv_counts, int const* recv_offsets, MPI_Datatype recv_type,
                             MPI_Comm comm) {
    static double const extra_share = factor() - 1.0;
    auto const begin = Clock::now();
    int const code =
        PMPI_Alltoallv(send, send_counts, send_offsets, send_type, recv, recv_counts, recv_offsets, recv_type, comm);
    auto const end = Clock::now();
    auto const until = end + std::chrono::duration_cast<Clock::duration>((end - begin) * extra_share);
    while (Clock::now() < until) {
    }
    return code;
}
