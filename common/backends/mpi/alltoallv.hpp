// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One MPI_Alltoallv per exchange, in plan order; the self block is the library's business too.
#pragma once

#include "common/backends/mpi/large_count.hpp"
#include "common/backends/mpi/limits.hpp"
#include "common/plan/plan.hpp"

#include <mpi.h>

#include <vector>

namespace dlmb::mpi {

/// Counts and displacements of one side, one entry per rank of the communicator (alltoallv) or per neighbour.
struct Side {
    std::byte* base = nullptr;
    std::vector<int> counts;
    std::vector<int> offsets;
};
[[nodiscard]] bool fits_int(Exchange const& exchange, Limits const& limits);
[[nodiscard]] Side dense_side(std::vector<Block> const& blocks, std::byte* base, int ranks);
[[nodiscard]] LargeSide dense_large_side(std::vector<Block> const& blocks, std::byte* base, int ranks);

/// `concurrent`: steps overlap on some rank, so that all ranks must make the non-blocking call,
/// which never matches a blocking one.
class Alltoallv {
public:
    Alltoallv(Side send, Side recv, MPI_Comm comm, bool concurrent);
    void start();
    void wait();
    [[nodiscard]] bool blocks() const { return !concurrent_; }
    [[nodiscard]] bool test();

private:
    Side send_;
    Side recv_;
    MPI_Comm comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool concurrent_;
};

/// The same with 64-bit counts, where has_large_counts().
class LargeAlltoallv {
public:
    LargeAlltoallv(LargeSide send, LargeSide recv, MPI_Comm comm, bool concurrent);
    void start();
    void wait();
    [[nodiscard]] bool blocks() const { return !concurrent_; }
    [[nodiscard]] bool test();

private:
    LargeSide send_;
    LargeSide recv_;
    MPI_Comm comm_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    bool concurrent_;
};

}  // namespace dlmb::mpi
