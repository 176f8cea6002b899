// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Counts and displacements as the ragged collectives take them, of 32 and of 64 bits. CMake builds large_count_mpi4.cpp
// where the library has calls with 64-bit counts, and large_count_mpi3.cpp where it has not.
#pragma once

#include "common/plan/plan.hpp"

#include <mpi.h>

#include <vector>

namespace dlmb::mpi {

/// What is sent, or what is received: one entry per rank of the communicator, or per neighbour.
template <class Count, class Offset>
struct Side {
    std::byte* base = nullptr;
    std::vector<Count> counts;
    std::vector<Offset> offsets;
};
using IntSide = Side<int, int>;
using LargeSide = Side<MPI_Count, MPI_Aint>;

/// By rank; ranks without a block have a count of 0.
template <class Count, class Offset>
[[nodiscard]] Side<Count, Offset> dense_side(std::vector<Block> const& blocks, std::byte* base, int ranks) {
    auto const size = static_cast<std::size_t>(ranks);
    Side<Count, Offset> side{base, std::vector<Count>(size), std::vector<Offset>(size)};
    for (Block const& block : blocks) {
        side.counts[static_cast<std::size_t>(block.peer)] = static_cast<Count>(block.bytes);
        side.offsets[static_cast<std::size_t>(block.peer)] = static_cast<Offset>(block.offset);
    }
    return side;
}

[[nodiscard]] bool has_large_counts();

/// MPI codes. They throw where !has_large_counts().
[[nodiscard]] int large_alltoallv(LargeSide const& send, LargeSide const& recv, MPI_Comm comm);
[[nodiscard]] int large_ialltoallv(LargeSide const& send, LargeSide const& recv, MPI_Comm comm, MPI_Request& request);

}  // namespace dlmb::mpi
