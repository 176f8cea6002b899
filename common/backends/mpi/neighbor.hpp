// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_Neighbor_alltoallv on a graph of this exchange's blocks: the library sees only peers that get something.
#pragma once

#include "common/backends/mpi/alltoallv.hpp"
#include "common/bootstrap/mpi/communicator.hpp"

namespace dlmb::mpi {

class Neighbor {
public:
    /// Collective over `group`; every block fits int.
    Neighbor(Exchange const& exchange, std::byte* send_base, std::byte* recv_base, MPI_Comm group, bool concurrent);
    void start();
    void wait();
    [[nodiscard]] bool blocks() const { return !concurrent_; }
    [[nodiscard]] bool test();

private:
    Side send_;
    Side recv_;
    Communicator graph_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool concurrent_;
};

}  // namespace dlmb::mpi
