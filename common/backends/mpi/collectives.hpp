// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The library's own collectives: their calls, as far as a library has them, and the arguments of a step. MPI has no
// 16-bit or 8-bit floating point: such elements travel as unsigned integers of their size and are reduced by operations
// of our own, in float, rounded after each operand.
#pragma once

#include "common/backends/mpi/methods.hpp"

#include <string>
#include <string_view>

namespace dlmb::mpi {

/// Arguments of one native call. `count`: elements, of this rank's part where the call gathers or scatters. Pointers
/// that only the root has are nullptr elsewhere.
struct CollectiveArguments {
    MpiCall call = MpiCall::allreduce;
    void const* send = nullptr;
    void* recv = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op operation = MPI_OP_NULL;
    int root = 0;
    std::vector<int> counts = {};   // of a call with shares: elements by rank
    std::vector<int> offsets = {};  // of a call with shares: where they begin, in elements
};

/// Arguments of one step: several calls where its elements exceed an int and the operation may be cut.
[[nodiscard]] std::vector<CollectiveArguments> collective_arguments(Operation const& operation,
                                                                    CompileContext const& context);
/// Floating-point formats that MPI does not have, reduced by operations of our own.
[[nodiscard]] bool is_narrow(Element element);
[[nodiscard]] MPI_Comm collective_comm(Operation const& operation, CompileContext const& context);

/// MPI's name of a call in a form: "MPI_Ireduce" of "MPI_I{}". Where no I stands before the call, it begins with a
/// capital: "MPI_Reduce" of "MPI_{}", "MPIX_Bcast_init" of "MPIX_{}_init".
[[nodiscard]] std::string call_name(std::string_view form, MpiCall call);

[[noreturn, gnu::cold]] void throw_collective_failed(int code, char const* form, MpiCall call, Where where);

/// The calls in one form. `More`: what they take besides (a request, and an info where they are persistent).
template <class... More>
struct CollectiveCalls {
    int (*all_reduce)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, More...);
    int (*reduce)(void const*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm, More...);
    int (*reduce_scatter)(void const*, void*, int const*, MPI_Datatype, MPI_Op, MPI_Comm, More...);
    int (*reduce_scatter_block)(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, More...);
    int (*all_gather)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, More...);
    int (*all_gatherv)(void const*, int, MPI_Datatype, void*, int const*, int const*, MPI_Datatype, MPI_Comm, More...);
    int (*gather)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm, More...);
    int (*gatherv)(void const*, int, MPI_Datatype, void*, int const*, int const*, MPI_Datatype, int, MPI_Comm, More...);
    int (*scatter)(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm, More...);
    int (*scatterv)(void const*, int const*, int const*, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm,
                    More...);
    int (*broadcast)(void*, int, MPI_Datatype, int, MPI_Comm, More...);
    int (*barrier)(MPI_Comm, More...);
    char const* form;  // of their names: "MPI_I{}"

    // Inlined, so that a constant table becomes direct calls. As check(), and the name is made where the call failed.
    [[gnu::always_inline]] void operator()(CollectiveArguments const& call, MPI_Comm comm, More... more) const {
        if (int const code = made(call, comm, more...); code != 0) [[unlikely]] {
            throw_collective_failed(code, form, call.call, Where::here());
        }
    }

private:
    [[gnu::always_inline]] int made(CollectiveArguments const& call, MPI_Comm comm, More... more) const {
        switch (call.call) {
        case MpiCall::allreduce:
            return all_reduce(call.send, call.recv, call.count, call.type, call.operation, comm, more...);
        case MpiCall::reduce:
            return reduce(call.send, call.recv, call.count, call.type, call.operation, call.root, comm, more...);
        case MpiCall::reduce_scatter:
            return reduce_scatter(call.send, call.recv, call.counts.data(), call.type, call.operation, comm, more...);
        case MpiCall::reduce_scatter_block:
            return reduce_scatter_block(call.send, call.recv, call.count, call.type, call.operation, comm, more...);
        case MpiCall::allgather:
            return all_gather(call.send, call.count, call.type, call.recv, call.count, call.type, comm, more...);
        case MpiCall::allgatherv:
            return all_gatherv(call.send, call.count, call.type, call.recv, call.counts.data(), call.offsets.data(),
                               call.type, comm, more...);
        case MpiCall::gather:
            return gather(call.send, call.count, call.type, call.recv, call.count, call.type, call.root, comm, more...);
        case MpiCall::gatherv:
            return gatherv(call.send, call.count, call.type, call.recv, call.counts.data(), call.offsets.data(),
                           call.type, call.root, comm, more...);
        case MpiCall::scatter:
            return scatter(call.send, call.count, call.type, call.recv, call.count, call.type, call.root, comm,
                           more...);
        case MpiCall::scatterv:
            return scatterv(call.send, call.counts.data(), call.offsets.data(), call.type, call.recv, call.count,
                            call.type, call.root, comm, more...);
        case MpiCall::barrier:
            return barrier(comm, more...);
        default:
            return broadcast(call.recv, call.count, call.type, call.root, comm, more...);
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
