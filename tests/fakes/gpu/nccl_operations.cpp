// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/call_log.hpp"
#include "tests/fakes/gpu/group.hpp"
#include "tests/fakes/gpu/settings.hpp"

#include <fmt/format.h>
#include <nccl.h>

#include <string_view>

using namespace dlmb::fake_gpu;

namespace {

std::string_view word_for(ncclResult_t result) {
    return result == ncclInProgress ? " in progress" : "";
}

ncclResult_t issue(Operation const& operation, ncclComm_t handle, cudaStream_t stream, char const* call) {
    hang_where_told(call);
    auto const communicator = communicator_of(handle, call);
    if (!element_size(operation.type) || !is_known(operation.reduction) || operation.peer < 0 ||
        operation.peer >= communicator->ranks()) {
        return ncclInvalidArgument;
    }
    require_buffers(operation, communicator->rank, communicator->ranks(), call);
    ncclResult_t const result = add_to_group(communicator, operation, stream);
    note_call(call, fmt::format("peer {} count {}{}", operation.peer, operation.count, word_for(result)));
    return result;
}

std::byte const* bytes(void const* data) {
    return static_cast<std::byte const*>(data);
}

std::byte* bytes(void* data) {
    return static_cast<std::byte*>(data);
}

}  // namespace

ncclResult_t ncclGroupStart() {
    note_call("ncclGroupStart");
    ++group_depth();
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    hang_where_told("ncclGroupEnd");
    if (group_depth() == 0) {
        return ncclInvalidUsage;
    }
    ncclResult_t const result = --group_depth() > 0 ? ncclSuccess : end_group();
    note_call("ncclGroupEnd", word_for(result));
    return result;
}

ncclResult_t ncclSend(void const* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return issue({Call::message, Direction::send, bytes(data), nullptr, count, type, ncclSum, peer}, comm, stream,
                 "ncclSend");
}

ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return issue({Call::message, Direction::receive, nullptr, bytes(data), count, type, ncclSum, peer}, comm, stream,
                 "ncclRecv");
}

ncclResult_t ncclAllReduce(void const* send, void* recv, std::size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                           ncclComm_t comm, cudaStream_t stream) {
    return issue({Call::all_reduce, Direction::none, bytes(send), bytes(recv), count, type, reduction, 0}, comm, stream,
                 "ncclAllReduce");
}

ncclResult_t ncclReduce(void const* send, void* recv, std::size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                        int root, ncclComm_t comm, cudaStream_t stream) {
    return issue({Call::reduce, Direction::none, bytes(send), bytes(recv), count, type, reduction, root}, comm, stream,
                 "ncclReduce");
}

ncclResult_t ncclReduceScatter(void const* send, void* recv, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream) {
    return issue({Call::reduce_scatter, Direction::none, bytes(send), bytes(recv), count, type, reduction, 0}, comm,
                 stream, "ncclReduceScatter");
}

ncclResult_t ncclAllGather(void const* send, void* recv, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    return issue({Call::all_gather, Direction::none, bytes(send), bytes(recv), count, type, ncclSum, 0}, comm, stream,
                 "ncclAllGather");
}

ncclResult_t ncclBroadcast(void const* send, void* recv, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
    return issue({Call::broadcast, Direction::none, bytes(send), bytes(recv), count, type, ncclSum, root}, comm, stream,
                 "ncclBroadcast");
}

ncclResult_t ncclAlltoAll(void const* send, void* recv, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
    return issue({Call::all_to_all, Direction::none, bytes(send), bytes(recv), count, type, ncclSum, 0}, comm, stream,
                 "ncclAlltoAll");
}
