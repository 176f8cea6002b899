// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ragged collectives with 64-bit counts. CMake builds large_count_mpi4.cpp where the library has them and
// large_count_mpi3.cpp where it has not; there an exchange that needs them goes point to point instead.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace dlmb::mpi {

struct LargeSide {
    std::byte* base = nullptr;
    std::vector<MPI_Count> counts;
    std::vector<MPI_Aint> offsets;
};

[[nodiscard]] bool has_large_counts();

/// MPI codes. They throw where !has_large_counts().
[[nodiscard]] int large_alltoallv(LargeSide const& send, LargeSide const& recv, MPI_Comm comm);
[[nodiscard]] int large_ialltoallv(LargeSide const& send, LargeSide const& recv, MPI_Comm comm, MPI_Request& request);

}  // namespace dlmb::mpi
