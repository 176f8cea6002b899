// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/counts.hpp"

namespace dlmb::mpi {

bool has_large_counts() {
    return true;
}

int large_alltoallv(LargeSide const& send, LargeSide const& recv, MPI_Comm comm) {
    return MPI_Alltoallv_c(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base, recv.counts.data(),
                           recv.offsets.data(), MPI_BYTE, comm);
}

int large_ialltoallv(LargeSide const& send, LargeSide const& recv, MPI_Comm comm, MPI_Request& request) {
    return MPI_Ialltoallv_c(send.base, send.counts.data(), send.offsets.data(), MPI_BYTE, recv.base, recv.counts.data(),
                            recv.offsets.data(), MPI_BYTE, comm, &request);
}

}  // namespace dlmb::mpi
