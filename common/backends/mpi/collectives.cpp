// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/collectives.hpp"

#include "common/backends/mpi/datatypes.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>

namespace dlmb::mpi {
namespace {

std::byte* address(Region const& region, Buffers const& buffers) {
    return buffers.base[region.buffer] + region.offset;
}

void call_blocking(NativeCall const& call, MPI_Comm comm) {
    switch (call.kind) {
    case NativeCall::Kind::all_reduce:
        check(MPI_Allreduce(call.send, call.recv, call.count, call.type, call.operation, comm), "MPI_Allreduce");
        break;
    case NativeCall::Kind::reduce_scatter:
        check(MPI_Reduce_scatter_block(call.send, call.recv, call.count, call.type, call.operation, comm),
              "MPI_Reduce_scatter_block");
        break;
    case NativeCall::Kind::all_gather:
        check(MPI_Allgather(call.send, call.count, call.type, call.recv, call.count, call.type, comm), "MPI_Allgather");
        break;
    case NativeCall::Kind::broadcast:
        check(MPI_Bcast(call.recv, call.count, call.type, call.root, comm), "MPI_Bcast");
        break;
    }
}

void call_nonblocking(NativeCall const& call, MPI_Comm comm, MPI_Request& request) {
    switch (call.kind) {
    case NativeCall::Kind::all_reduce:
        check(MPI_Iallreduce(call.send, call.recv, call.count, call.type, call.operation, comm, &request),
              "MPI_Iallreduce");
        break;
    case NativeCall::Kind::reduce_scatter:
        check(MPI_Ireduce_scatter_block(call.send, call.recv, call.count, call.type, call.operation, comm, &request),
              "MPI_Ireduce_scatter_block");
        break;
    case NativeCall::Kind::all_gather:
        check(MPI_Iallgather(call.send, call.count, call.type, call.recv, call.count, call.type, comm, &request),
              "MPI_Iallgather");
        break;
    case NativeCall::Kind::broadcast:
        check(MPI_Ibcast(call.recv, call.count, call.type, call.root, comm, &request), "MPI_Ibcast");
        break;
    }
}

// An all_gather or reduce_scatter cannot be cut into several calls: the shares of a call lie next to each other.
std::string share_refusal(Bytes bytes, Element element, std::size_t ranks, Limits const& limits) {
    Bytes const share = bytes / size_of(element) / ranks;
    return share <= limits.call_bytes
               ? ""
               : fmt::format("{} elements per rank in one call, MPI's int ends at 2^31 - 1", share);
}

}  // namespace

Collective::Collective(std::vector<NativeCall> calls, MPI_Comm comm, bool concurrent)
    : calls_(std::move(calls)), requests_(calls_.size(), MPI_REQUEST_NULL), comm_(comm), concurrent_(concurrent) {}

void Collective::wait() {
    if (concurrent_) {
        check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }
}

void Collective::start() {
    if (concurrent_) {
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            call_nonblocking(calls_[i], comm_, requests_[i]);
        }
    } else {
        for (NativeCall const& call : std::span(calls_)) {
            call_blocking(call, comm_);
        }
    }
}

bool Collective::test() {
    int done = 1;
    if (concurrent_) {
        check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    }
    return done != 0;
}

std::vector<NativeCall> native_calls(AllReduce const& step, Buffers const& buffers, Limits const& limits) {
    std::byte const* const send = address(step.send, buffers);
    std::byte* const recv = address(step.recv, buffers);
    Bytes const size = size_of(step.element);
    std::vector<NativeCall> calls;
    for (Bytes first = 0, elements = step.bytes / size; first < elements; first += limits.call_bytes) {
        auto const count = static_cast<int>(std::min(limits.call_bytes, elements - first));
        void const* const from = send == recv ? MPI_IN_PLACE : send + first * size;
        calls.push_back({NativeCall::Kind::all_reduce, from, recv + first * size, count, reduced_type(step.element),
                         operation_of(step.element, step.reduction), 0});
    }
    return calls;
}

std::vector<NativeCall> native_calls(Broadcast const& step, Buffers const& buffers, Limits const& limits) {
    std::byte* const data = address(step.data, buffers);
    Bytes const size = size_of(step.element);
    std::vector<NativeCall> calls;
    for (Bytes first = 0, elements = step.bytes / size; first < elements; first += limits.call_bytes) {
        auto const count = static_cast<int>(std::min(limits.call_bytes, elements - first));
        calls.push_back({NativeCall::Kind::broadcast, nullptr, data + first * size, count, moved_type(step.element),
                         MPI_OP_NULL, step.root});
    }
    return calls;
}

std::vector<NativeCall> native_calls(ReduceScatter const& step, Buffers const& buffers, int ranks) {
    std::byte const* const send = address(step.send, buffers);
    std::byte* const recv = address(step.recv, buffers);
    Bytes const share = step.bytes / size_of(step.element) / static_cast<Bytes>(ranks);
    return {{NativeCall::Kind::reduce_scatter, send == recv ? MPI_IN_PLACE : send, recv, static_cast<int>(share),
             reduced_type(step.element), operation_of(step.element, step.reduction), 0}};
}

std::vector<NativeCall> native_calls(AllGather const& step, Buffers const& buffers, int ranks, int me) {
    std::byte const* const send = address(step.send, buffers);
    std::byte* const recv = address(step.recv, buffers);
    Bytes const share = step.bytes / static_cast<Bytes>(ranks);
    bool const in_place = send == recv + share * static_cast<Bytes>(me);
    return {{NativeCall::Kind::all_gather, in_place ? MPI_IN_PLACE : send, recv,
             static_cast<int>(share / size_of(step.element)), moved_type(step.element), MPI_OP_NULL, 0}};
}

std::string refusal(ReduceScatter const& step, std::size_t ranks, Limits const& limits) {
    return share_refusal(step.bytes, step.element, ranks, limits);
}

std::string refusal(AllGather const& step, std::size_t ranks, Limits const& limits) {
    return share_refusal(step.bytes, step.element, ranks, limits);
}

}  // namespace dlmb::mpi
