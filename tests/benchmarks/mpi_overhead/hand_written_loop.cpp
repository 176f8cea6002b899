// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "tests/benchmarks/mpi_overhead/loops.hpp"

namespace dlmb::overhead {

namespace {

// Return codes are checked as any careful program would.
void iterate(HandWritten const& loop, int iterations) {
    for (int i = 0; i < iterations; ++i) {
        mpi::check(MPI_Allgather(loop.counts_send, loop.counts_bytes, MPI_BYTE, loop.counts_recv, loop.counts_bytes,
                                 MPI_BYTE, loop.comm),
                   "MPI_Allgather");
        mpi::check(MPI_Alltoallv(loop.dispatch_send.base, loop.dispatch_send.counts.data(),
                                 loop.dispatch_send.offsets.data(), MPI_BYTE, loop.dispatch_recv.base,
                                 loop.dispatch_recv.counts.data(), loop.dispatch_recv.offsets.data(), MPI_BYTE,
                                 loop.comm),
                   "MPI_Alltoallv");
        mpi::check(MPI_Alltoallv(loop.combine_send.base, loop.combine_send.counts.data(),
                                 loop.combine_send.offsets.data(), MPI_BYTE, loop.combine_recv.base,
                                 loop.combine_recv.counts.data(), loop.combine_recv.offsets.data(), MPI_BYTE,
                                 loop.comm),
                   "MPI_Alltoallv");
    }
}

}  // namespace

extern "C" void dlmb_overhead_hand_written(HandWritten const& loop, int iterations) {
    iterate(loop, iterations);
}

void hand_written_once(HandWritten const& loop) {
    iterate(loop, 1);
}

}  // namespace dlmb::overhead
