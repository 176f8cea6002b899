// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Round s: receive from the rank s before, send to the rank s after. At most `max_outstanding` rounds are in flight, so
// that no rank is the target of all others at once.
#pragma once

#include "common/backends/mpi/messages.hpp"

#include <mpi.h>

namespace dlmb::mpi {

class Pairwise {
public:
    /// `ranks` and `me`: of `comm`.
    Pairwise(Exchange const& exchange, Buffers const& buffers, int me, int ranks, int max_outstanding,
             Limits const& limits, SelfCopy copy, int tag, MPI_Comm comm);
    void start();
    void wait();
    [[nodiscard]] bool test();

private:
    struct Round {
        std::size_t first;
        std::size_t count;
    };
    void post_next();

    std::vector<Message> messages_;  // of round 0, of round 1 ...
    std::vector<MPI_Request> requests_;
    std::vector<Round> rounds_;  // without the empty ones
    std::size_t window_;
    std::size_t posted_ = 0;
    std::size_t finished_ = 0;
    SelfCopy copy_;
    int tag_;
    MPI_Comm comm_;
};

}  // namespace dlmb::mpi
