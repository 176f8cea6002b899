// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages of isend_irecv as persistent requests: matched once in compile(), started together in each iteration.
#pragma once

#include "common/backends/mpi/messages.hpp"

#include <mpi.h>

namespace dlmb::mpi {

class Persistent {
public:
    Persistent(std::vector<Message> const& messages, SelfCopy copy, int tag, MPI_Comm comm);
    Persistent(Persistent const&) = delete;
    Persistent& operator=(Persistent const&) = delete;
    Persistent(Persistent&&) noexcept = default;
    Persistent& operator=(Persistent&&) = delete;
    ~Persistent();
    void run();
    void start();
    [[nodiscard]] bool test();

private:
    std::vector<MPI_Request> requests_;
    SelfCopy copy_;
};

}  // namespace dlmb::mpi
