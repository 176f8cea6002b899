// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/persistent_api.hpp"

namespace dlmb::mpi {

PersistentApi const* persistent_api() {
    static constexpr PersistentApi api{MPI_Allreduce_init, MPI_Reduce_scatter_block_init, MPI_Allgather_init,
                                       MPI_Bcast_init};
    return &api;
}

}  // namespace dlmb::mpi
