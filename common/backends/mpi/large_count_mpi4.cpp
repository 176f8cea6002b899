// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/collectives.hpp"

dlmb::mpi::LargeCountCalls const* dlmb::mpi::large_count_calls() {
    static constexpr LargeCountCalls calls{MPI_Alltoallv_c, MPI_Ialltoallv_c};
    return &calls;
}
