// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether MPI is given pointers to device memory: wrappers that stand before three of the library's functions (the MPI
// profiling interface) ask the test double of CUDA what each buffer is. A program that links watched_mpi.cpp has them,
// and runs only where that double is preloaded. Where its memory is protected, any other call that is given such a
// pointer ends in a crash.
#pragma once

#include <cstdint>

namespace dlmb::watched {

/// Buffers that MPI_Isend, MPI_Alltoallv and MPI_Allreduce were given since the last reset().
struct Pointers {
    std::uint64_t device = 0;
    std::uint64_t host = 0;
};

[[nodiscard]] Pointers pointers();
void reset();

}  // namespace dlmb::watched
