// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The library's own collectives: their calls, as far as a library has them, and the arguments of a step. MPI has no
// 16-bit or 8-bit floating point: such elements travel as unsigned integers of their size and are reduced by operations
// of our own, in float, rounded after each operand.
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
/// Floating-point formats that MPI does not have, reduced by operations of our own.
[[nodiscard]] bool is_narrow(Element element);
[[nodiscard]] MPI_Comm collective_comm(Operation const& operation, CompileContext const& context);

/// Four calls in one form. `More`: what they take besides (a request, and an info where they are persistent).
template <class... More>
struct CollectiveCalls {
    int (*all_reduce)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, More...);
    int (*reduce_scatter)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, More...);
    int (*all_gather)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, More...);
    int (*broadcast)(void*, int, MPI_Datatype, int, MPI_Comm, More...);
    char const* names[4];  // in that order

    // Inlined, so that a constant table becomes direct calls.
    [[gnu::always_inline]] void operator()(CollectiveArguments const& call, MPI_Comm comm, More... more) const {
        switch (call.kind) {
        case OperationKind::all_reduce:
            check(all_reduce(call.send, call.recv, call.count, call.type, call.operation, comm, more...), names[0]);
            break;
        case OperationKind::reduce_scatter:
            check(reduce_scatter(call.send, call.recv, call.count, call.type, call.operation, comm, more...), names[1]);
            break;
        case OperationKind::all_gather:
            check(all_gather(call.send, call.count, call.type, call.recv, call.count, call.type, comm, more...),
                  names[2]);
            break;
        default:
            check(broadcast(call.recv, call.count, call.type, call.root, comm, more...), names[3]);
            break;
        }
    }
};

/// Prepare persistent requests.
using PersistentCalls = CollectiveCalls<MPI_Info, MPI_Request*>;
/// nullptr: the library has none. CMake builds one of persistent_calls_mpi4.cpp (MPI 4), persistent_calls_pcollreq.cpp
/// (Open MPI's extension) and persistent_calls_absent.cpp.
[[nodiscard]] PersistentCalls const* persistent_calls();

/// MPI_Alltoallv_c and MPI_Ialltoallv_c, whose counts and displacements have 64 bits.
struct LargeCountCalls {
    int (*alltoallv)(void const*, MPI_Count const*, MPI_Aint const*, MPI_Datatype, void*, MPI_Count const*,
                     MPI_Aint const*, MPI_Datatype, MPI_Comm);
    int (*ialltoallv)(void const*, MPI_Count const*, MPI_Aint const*, MPI_Datatype, void*, MPI_Count const*,
                      MPI_Aint const*, MPI_Datatype, MPI_Comm, MPI_Request*);
};
/// nullptr: the library has none. CMake builds large_count_mpi4.cpp or large_count_mpi3.cpp.
[[nodiscard]] LargeCountCalls const* large_count_calls();

}  // namespace dlmb::mpi
