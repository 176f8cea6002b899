// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether MPI is given pointers to device memory: wrappers that stand before the library's functions (the MPI profiling
// interface) ask the test double of CUDA what each buffer is. A program that links watched_mpi.cpp has them.
#pragma once

#include <cstdint>

namespace dlmb::watched {

/// Buffers that calls were given since the last reset().
struct Pointers {
    std::uint64_t device = 0;
    std::uint64_t host = 0;
};

[[nodiscard]] Pointers pointers();
void reset();

/// False where the test double of CUDA is not preloaded: then nothing is known about any pointer.
[[nodiscard]] bool double_is_loaded();

}  // namespace dlmb::watched
