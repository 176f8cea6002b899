// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/alltoall.hpp"

#include "common/bootstrap/mpi/mpi_check.hpp"

namespace dlmb::mpi {

void Alltoall::wait() {
    if (concurrent_) {
        check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    }
}

void Alltoall::start() {
    if (concurrent_) {
        check(MPI_Ialltoall(send_, block_bytes_, MPI_BYTE, recv_, block_bytes_, MPI_BYTE, comm_, &request_),
              "MPI_Ialltoall");
    } else {
        check(MPI_Alltoall(send_, block_bytes_, MPI_BYTE, recv_, block_bytes_, MPI_BYTE, comm_), "MPI_Alltoall");
    }
}

bool Alltoall::test() {
    int done = 1;
    if (concurrent_) {
        check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
    return done != 0;
}

}  // namespace dlmb::mpi
