// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/collectives.hpp"

#include <mpi-ext.h>

dlmb::mpi::PersistentCalls const* dlmb::mpi::persistent_calls() {
    static constexpr PersistentCalls calls{
        MPIX_Allreduce_init, MPIX_Reduce_init,     MPIX_Reduce_scatter_init, MPIX_Reduce_scatter_block_init,
        MPIX_Allgather_init, MPIX_Allgatherv_init, MPIX_Gather_init,         MPIX_Gatherv_init,
        MPIX_Scatter_init,   MPIX_Scatterv_init,   MPIX_Bcast_init,          MPIX_Barrier_init,
        "MPIX_{}_init"};
    return &calls;
}
