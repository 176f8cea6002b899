// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/compiled.hpp"

#include "common/backends/nccl/check.hpp"

#include <sched.h>

namespace dlmb::nccl {
namespace {

void enqueue(GroupedCall const& call, cudaStream_t stream) {
    check(ncclGroupStart(), "ncclGroupStart");
    for (Transfer const& receive : call.receives) {
        check(ncclRecv(receive.data, receive.bytes, ncclUint8, receive.peer, call.communicator, stream), "ncclRecv");
    }
    for (Transfer const& send : call.sends) {
        check(ncclSend(send.data, send.bytes, ncclUint8, send.peer, call.communicator, stream), "ncclSend");
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
}

void enqueue(AllGatherCall const& call, cudaStream_t stream) {
    check(ncclAllGather(call.send, call.recv, call.bytes_per_rank, ncclUint8, call.communicator, stream),
          "ncclAllGather");
}

void enqueue(BroadcastCall const& call, cudaStream_t stream) {
    check(ncclBroadcast(call.data, call.data, call.bytes, ncclUint8, call.root, call.communicator, stream),
          "ncclBroadcast");
}

void enqueue(AllReduceCall const& call, cudaStream_t stream) {
    check(ncclAllReduce(call.send, call.recv, call.count, call.type, call.operation, call.communicator, stream),
          "ncclAllReduce");
}

void enqueue(ReduceScatterCall const& call, cudaStream_t stream) {
    check(ncclReduceScatter(call.send, call.recv, call.count, call.type, call.operation, call.communicator, stream),
          "ncclReduceScatter");
}

void enqueue(AllToAllCall const& call, cudaStream_t stream) {
    enqueue_all_to_all(call, stream);
}

/// With a non-blocking communicator the call may still be on its way to the stream when it returns.
void until_enqueued(ncclComm_t communicator) {
    ncclResult_t state = ncclInProgress;
    do {
        check(ncclCommGetAsyncError(communicator, &state), "ncclCommGetAsyncError");
    } while (state == ncclInProgress);
    check(state, "enqueue");
}

}  // namespace

Compiled::Compiled(std::vector<NativeCall> calls, std::size_t steps, Communicators& communicators, Stream const& stream)
    : CompiledPlan(steps), calls_(std::move(calls)), done_(calls_.size()), communicators_(communicators),
      watched_(communicators.all()), stream_(stream) {}

void Compiled::launch() {
    begin();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        std::visit(
            [&](auto const& call) {
                enqueue(call, stream_.get());
                until_enqueued(call.communicator);
            },
            calls_[i].call);
        check(cudaEventRecord(done_[i].get(), stream_.get()), "cudaEventRecord");
    }
}

void Compiled::finish() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        wait_for(done_[i]);
        for (StepId const step : calls_[i].steps) {
            mark(step);
        }
    }
}

void Compiled::wait_for(Event const& event) {
    constexpr unsigned polls_between_error_checks = 256;
    for (unsigned polls = 1;; ++polls) {
        cudaError_t const state = cudaEventQuery(event.get());
        if (state == cudaSuccess) {
            return;
        }
        if (state != cudaErrorNotReady) {
            check(state, "cudaEventQuery");
        }
        if (polls % polls_between_error_checks != 0) {
            continue;
        }
        for (ncclComm_t const communicator : watched_) {
            ncclResult_t error = ncclSuccess;
            check(ncclCommGetAsyncError(communicator, &error), "ncclCommGetAsyncError");
            if (error != ncclSuccess && error != ncclInProgress) {
                communicators_.abort();  // otherwise cudaFree behind the stuck kernel would block too
                check(error, "ncclCommGetAsyncError");
            }
        }
    }
}

}  // namespace dlmb::nccl
