// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The library's own allreduce, reduce-scatter, allgather and broadcast, which every method uses alike.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/limits.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace dlmb::mpi {

/// One native call with its arguments.
struct NativeCall {
    enum class Kind : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast };
    Kind kind = Kind::all_reduce;
    void const* send = nullptr;
    void* recv = nullptr;
    int count = 0;  // elements; of one rank's share for reduce_scatter and all_gather
    MPI_Datatype type = MPI_BYTE;
    MPI_Op operation = MPI_OP_NULL;
    int root = 0;
};

/// One step. Several calls where the elements exceed an int and the operation may be cut.
class Collective {
public:
    Collective(std::vector<NativeCall> calls, MPI_Comm comm, bool concurrent);
    void start();
    void wait();
    [[nodiscard]] bool blocks() const { return !concurrent_; }
    [[nodiscard]] bool test();

private:
    std::vector<NativeCall> calls_;
    std::vector<MPI_Request> requests_;
    MPI_Comm comm_;
    bool concurrent_;
};

/// `ranks`, `me`: of the step's group.
[[nodiscard]] std::vector<NativeCall> native_calls(AllReduce const& step, Buffers const& buffers, Limits const& limits);
[[nodiscard]] std::vector<NativeCall> native_calls(Broadcast const& step, Buffers const& buffers, Limits const& limits);
[[nodiscard]] std::vector<NativeCall> native_calls(ReduceScatter const& step, Buffers const& buffers, int ranks);
[[nodiscard]] std::vector<NativeCall> native_calls(AllGather const& step, Buffers const& buffers, int ranks, int me);

/// Why the library's call cannot do this step; empty: it can.
[[nodiscard]] std::string refusal(ReduceScatter const& step, std::size_t ranks, Limits const& limits);
[[nodiscard]] std::string refusal(AllGather const& step, std::size_t ranks, Limits const& limits);

}  // namespace dlmb::mpi
