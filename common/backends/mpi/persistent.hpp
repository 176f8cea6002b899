// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Persistent requests: everything is matched once in compile(), and started together in each iteration.
#pragma once

#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/messages.hpp"

#include <mpi.h>

namespace dlmb::mpi {

/// MPI_Send_init and MPI_Recv_init.
[[nodiscard]] std::vector<MPI_Request> persistent_requests(std::vector<Message> const& messages, int tag,
                                                           MPI_Comm comm);
/// MPI_Allreduce_init and its like, where persistent_api() has them. Collective.
[[nodiscard]] std::vector<MPI_Request> persistent_requests(std::vector<NativeCall> const& calls, MPI_Comm comm);

class Persistent {
public:
    /// Takes the requests over.
    Persistent(std::vector<MPI_Request> requests, SelfCopy copy)
        : requests_(std::move(requests)), copy_(std::move(copy)) {}
    Persistent(Persistent const&) = delete;
    Persistent& operator=(Persistent const&) = delete;
    Persistent(Persistent&&) noexcept = default;
    Persistent& operator=(Persistent&&) = delete;
    ~Persistent();
    void start();
    void wait();
    [[nodiscard]] bool test();

private:
    std::vector<MPI_Request> requests_;
    SelfCopy copy_;
};

}  // namespace dlmb::mpi
