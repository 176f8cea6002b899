// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The two loops that are compared, each in a file of its own so that neither is inlined into main.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "tests/benchmarks/alltoallv_side.hpp"

#include <mpi.h>

namespace dlmb::overhead {

/// A dispatch and a combine as MPI takes them.
struct HandWritten {
    void const* counts_send;
    void* counts_recv;
    int counts_bytes;
    benchmark::AlltoallvSide dispatch_send, dispatch_recv, combine_send, combine_recv;
    MPI_Comm comm;
};

// C names: callgrind's --toggle-collect finds them.
extern "C" void dlmb_overhead_compiled(CompiledPlan& plan, int iterations);
extern "C" void dlmb_overhead_hand_written(HandWritten const& loop, int iterations);

/// One iteration that callgrind does not count.
void hand_written_once(HandWritten const& loop);

/// While true, MPI_Alltoallv and MPI_Allgather of this program return at once (mpi_double.cpp).
void skip_mpi(bool skip);

}  // namespace dlmb::overhead
