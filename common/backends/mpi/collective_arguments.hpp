// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce, reduce-scatter, allgather and broadcast in MPI's terms. MPI has no 16-bit or 8-bit floating point: such
// elements travel as unsigned integers of their size and are reduced by operations of our own, in float, rounded after
// each operand.
#pragma once

#include "common/backends/mpi/methods.hpp"

namespace dlmb::mpi {

/// Of one native call.
struct CollectiveArguments {
    OperationKind kind = OperationKind::all_reduce;
    void const* send = nullptr;
    void* recv = nullptr;
    int count = 0;  // elements; of one rank's share for reduce_scatter and all_gather
    MPI_Datatype type = MPI_BYTE;
    MPI_Op operation = MPI_OP_NULL;
    int root = 0;
};

/// Of one step: several calls where its elements exceed an int and the operation may be cut.
[[nodiscard]] std::vector<CollectiveArguments> collective_arguments(Operation const& operation,
                                                                    CompileContext const& context);
[[nodiscard]] MPI_Comm collective_comm(Operation const& operation, CompileContext const& context);

/// Why one call cannot take a rank's share; empty: it can. For Method::refusal.
[[nodiscard]] std::string share_refusal(Operation const& operation, Plan const& plan, Limits const& limits);

}  // namespace dlmb::mpi
