// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/collectives.hpp"

dlmb::mpi::PersistentCalls const* dlmb::mpi::persistent_calls() {
    static constexpr PersistentCalls calls{
        MPI_Allreduce_init, MPI_Reduce_init,     MPI_Reduce_scatter_init, MPI_Reduce_scatter_block_init,
        MPI_Allgather_init, MPI_Allgatherv_init, MPI_Gather_init,         MPI_Gatherv_init,
        MPI_Scatter_init,   MPI_Scatterv_init,   MPI_Bcast_init,          MPI_Barrier_init,
        "MPI_{}_init"};
    return &calls;
}
