// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One MPI_Alltoall per exchange whose blocks are equal and packed.
#pragma once

#include "common/plan/packed.hpp"

#include <mpi.h>

namespace dlmb::mpi {

class Alltoall {
public:
    /// `send`, `recv`: first of the packed blocks. `concurrent`: as in alltoallv.hpp.
    Alltoall(std::byte const* send, std::byte* recv, int block_bytes, MPI_Comm comm, bool concurrent)
        : send_(send), recv_(recv), block_bytes_(block_bytes), comm_(comm), concurrent_(concurrent) {}
    void start();
    void wait();
    [[nodiscard]] bool blocks() const { return !concurrent_; }
    [[nodiscard]] bool test();

private:
    std::byte const* send_;
    std::byte* recv_;
    int block_bytes_;
    MPI_Comm comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool concurrent_;
};

}  // namespace dlmb::mpi
