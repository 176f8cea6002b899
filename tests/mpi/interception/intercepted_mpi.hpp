// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What this process gives to MPI to be moved, counted by wrappers that stand before the library's functions (the MPI
// profiling interface). A program that links intercepted_mpi.cpp has them.
#pragma once

#include <cstdint>

namespace dlmb::intercepted {

struct Given {
    std::uint64_t messages = 0;          // to other ranks: MPI_Isend, MPI_Put, and blocks of the all-to-all calls
    std::uint64_t message_bytes = 0;     // their bytes
    std::uint64_t notices = 0;           // MPI_Isend of 0 bytes
    std::uint64_t gets = 0;              // from other ranks: MPI_Get
    std::uint64_t get_bytes = 0;         // their bytes
    std::uint64_t accumulates = 0;       // at other ranks: MPI_Accumulate
    std::uint64_t accumulate_bytes = 0;  // their bytes
    std::uint64_t collectives = 0;       // calls of allreduce, reduce_scatter, allgather, broadcast
    std::uint64_t collective_bytes = 0;  // their full logical buffers, on this rank
    bool operator==(Given const&) const = default;
};

/// Since the last reset().
[[nodiscard]] Given given();
void reset();

}  // namespace dlmb::intercepted
