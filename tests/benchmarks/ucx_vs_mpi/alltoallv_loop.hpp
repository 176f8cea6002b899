// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The hand-written reference: MPI_Alltoallv with counts and displacements taken from a plan's exchange.
#pragma once

#include "common/plan/plan.hpp"

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace dlmb::benchmark {

class AlltoallvLoop {
public:
    AlltoallvLoop(Exchange const& exchange, std::byte* send, std::byte* recv, MPI_Comm comm);
    void run() const;

private:
    struct Side {
        std::byte* base = nullptr;
        std::vector<int> counts;
        std::vector<int> offsets;
    };
    static Side side(std::vector<Block> const& blocks, std::byte* base, int ranks);

    MPI_Comm comm_;
    Side send_;
    Side recv_;
};

}  // namespace dlmb::benchmark
