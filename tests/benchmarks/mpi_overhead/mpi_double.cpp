// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A double of two MPI calls, for counting instructions only. Real MPI spins while it waits, so its instruction count is
// never twice the same; while counting, the calls return at once and what is left is the code around them. The double
// never stands in for a result: outside the counted section it passes every call on, and no time is ever taken here.
#include "tests/benchmarks/mpi_overhead/loops.hpp"

namespace dlmb::overhead {
namespace {

bool skipping = false;

}  // namespace

void skip_mpi(bool skip) {
    skipping = skip;
}

}  // namespace dlmb::overhead

extern "C" int MPI_Alltoallv(void const* send, int const* send_counts, int const* send_offsets, MPI_Datatype send_type,
                             void* recv, int const* recv_counts, int const* recv_offsets, MPI_Datatype recv_type,
                             MPI_Comm comm) {
    if (dlmb::overhead::skipping) {
        return MPI_SUCCESS;
    }
    return PMPI_Alltoallv(send, send_counts, send_offsets, send_type, recv, recv_counts, recv_offsets, recv_type, comm);
}

extern "C" int MPI_Allgather(void const* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                             MPI_Datatype recv_type, MPI_Comm comm) {
    if (dlmb::overhead::skipping) {
        return MPI_SUCCESS;
    }
    return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
}
