// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/enqueue.hpp"

#include "common/backends/nccl/check.hpp"

namespace dlmb::nccl {
namespace {

cudaStream_t native_stream(DeviceQueue const& queue) {
    return stream_of(queue.native());
}

/// With a non-blocking communicator the call may still be on its way to the stream when it returns.
void until_enqueued(ncclComm_t communicator, Meanwhile const& meanwhile) {
    constexpr unsigned polls_between_calls = 256;
    ncclResult_t state = ncclInProgress;
    for (unsigned polls = 1; state == ncclInProgress; ++polls) {
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
        if (polls % polls_between_calls == 0) {
            meanwhile();
        }
    }
    check(state, "enqueue");
}

}  // namespace

void enqueue(GroupedCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile) {
    cudaStream_t const stream = native_stream(queue);
    check(ncclGroupStart(), "ncclGroupStart");
    for (Transfer const& receive : call.receives) {
        check(ncclRecv(receive.data, receive.bytes, ncclUint8, receive.peer, call.communicator, stream), "ncclRecv");
    }
    for (Transfer const& send : call.sends) {
        check(ncclSend(send.data, send.bytes, ncclUint8, send.peer, call.communicator, stream), "ncclSend");
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
    until_enqueued(call.communicator, meanwhile);
}

void enqueue(AllToAllCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile) {
    all_to_all(call, native_stream(queue));
    until_enqueued(call.communicator, meanwhile);
}

void enqueue(AllGatherCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile) {
    check(ncclAllGather(call.send, call.recv, call.bytes_per_rank, ncclUint8, call.communicator, native_stream(queue)),
          "ncclAllGather");
    until_enqueued(call.communicator, meanwhile);
}

void enqueue(BroadcastCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile) {
    check(
        ncclBroadcast(call.data, call.data, call.bytes, ncclUint8, call.root, call.communicator, native_stream(queue)),
        "ncclBroadcast");
    until_enqueued(call.communicator, meanwhile);
}

void enqueue(AllReduceCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile) {
    check(ncclAllReduce(call.send, call.recv, call.count, call.type, call.operation, call.communicator,
                        native_stream(queue)),
          "ncclAllReduce");
    until_enqueued(call.communicator, meanwhile);
}

void enqueue(ReduceScatterCall const& call, DeviceQueue const& queue, Meanwhile const& meanwhile) {
    check(ncclReduceScatter(call.send, call.recv, call.count, call.type, call.operation, call.communicator,
                            native_stream(queue)),
          "ncclReduceScatter");
    until_enqueued(call.communicator, meanwhile);
}

}  // namespace dlmb::nccl
