// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/counts.hpp"
#include "common/base/error.hpp"

namespace dlmb::mpi {

bool has_large_counts() {
    return false;
}

int large_alltoallv(LargeSide const& /*send*/, LargeSide const& /*recv*/, MPI_Comm /*comm*/) {
    throw Error("MPI_Alltoallv_c: not in this MPI library");
}

int large_ialltoallv(LargeSide const& /*send*/, LargeSide const& /*recv*/, MPI_Comm /*comm*/,
                     MPI_Request& /*request*/) {
    throw Error("MPI_Ialltoallv_c: not in this MPI library");
}

}  // namespace dlmb::mpi
