// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/persistent_api.hpp"

#include <mpi-ext.h>

namespace dlmb::mpi {

PersistentApi const* persistent_api() {
    static constexpr PersistentApi api{MPIX_Allreduce_init, MPIX_Reduce_scatter_block_init, MPIX_Allgather_init,
                                       MPIX_Bcast_init};
    return &api;
}

}  // namespace dlmb::mpi
