// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/iteration.hpp"

#include "common/backends/nccl/check.hpp"

#include <algorithm>
#include <type_traits>

namespace dlmb::nccl {
namespace {

/// A call on a non-blocking communicator may return before its work is in the stream.
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

/// In the order of nccl-tests and PyTorch: to a peer, from a peer, to the next one.
ncclResult_t post(GroupedCall const& call, cudaStream_t stream) {
    check(ncclGroupStart(), "ncclGroupStart");
    std::size_t const most = std::max(call.sends.size(), call.receives.size());
    for (std::size_t i = 0; i < most; ++i) {
        if (i < call.sends.size()) {
            Transfer const& send = call.sends[i];
            check(ncclSend(send.data, send.bytes, ncclUint8, send.peer, call.communicator, stream), "ncclSend");
        }
        if (i < call.receives.size()) {
            Transfer const& receive = call.receives[i];
            check(ncclRecv(receive.data, receive.bytes, ncclUint8, receive.peer, call.communicator, stream),
                  "ncclRecv");
        }
    }
    return checked(ncclGroupEnd(), "ncclGroupEnd");
}

ncclResult_t post(CollectiveCall const& call, cudaStream_t stream) {
    switch (call.kind) {
    case OperationKind::exchange:
        return all_to_all(call, stream);
    case OperationKind::all_gather:
        return checked(ncclAllGather(call.send, call.recv, call.count, call.type, call.communicator, stream),
                       "ncclAllGather");
    case OperationKind::broadcast:
        return checked(ncclBroadcast(call.send, call.recv, call.count, call.type, call.root, call.communicator, stream),
                       "ncclBroadcast");
    case OperationKind::reduce:
        return checked(ncclReduce(call.send, call.recv, call.count, call.type, call.operation, call.root,
                                  call.communicator, stream),
                       "ncclReduce");
    case OperationKind::all_reduce:
        return checked(
            ncclAllReduce(call.send, call.recv, call.count, call.type, call.operation, call.communicator, stream),
            "ncclAllReduce");
    default:
        return checked(
            ncclReduceScatter(call.send, call.recv, call.count, call.type, call.operation, call.communicator, stream),
            "ncclReduceScatter");
    }
}

/// Each returns when the device will do the work without the host. Throws Error.
template <class Call>
void enqueue_on(DeviceQueue const& queue, Call const& call, Meanwhile const& meanwhile) {
    if (post(call, stream_of(queue.native())) == ncclInProgress) {
        until_enqueued(call.communicator, meanwhile);
    }
}
void enqueue_on(DeviceQueue const& queue, DeviceCompute const& compute, Meanwhile const& /*meanwhile*/) {
    compute.start(queue);
}

}  // namespace

void Marks::record(std::size_t item, DeviceQueue const& queue) {
    if (in_ == In::stream) {
        events_[item].record(queue);
        return;
    }
    check(cudaEventRecordWithFlags(static_cast<cudaEvent_t>(events_[item].native()), stream_of(queue.native()),
                                   cudaEventRecordExternal),
          "cudaEventRecordWithFlags");
}

Iteration::Iteration(std::vector<Item> items, Buffers const& buffers, Queues const& queues)
    : queues_(queues), queueing_(items.size()) {
    entries_.reserve(items.size());  // events are pointed to
    for (Item& item : items) {
        DeviceQueue const& queue = item.computes() ? queues.computation : queues.communication;
        auto const work = [&buffers](auto& call) -> decltype(Entry::work) {
            if constexpr (std::is_same_v<std::decay_t<decltype(call)>, Compute>) {
                return DeviceCompute(call, buffers);
            } else {
                return std::move(call);
            }
        };
        entries_.push_back({std::visit(work, item.work), std::move(item.steps), &queue});
    }
    order(items);
}

/// The computation queue is empty when an iteration begins, but must not run ahead of it: its first item waits for the
/// begin, which is also how a capture comes to hold it.
void Iteration::order(std::vector<Item> const& items) {
    std::optional<std::size_t> last_computation;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].wait) {
            entries_[i].after = &done(*items[i].wait);
        } else if (items[i].computes() && !last_computation) {
            entries_[i].after = &begun_.emplace();
        }
        last_computation = items[i].computes() ? i : last_computation;
    }
    computed_ = last_computation ? &done(*last_computation) : nullptr;
}

DeviceEvent const& Iteration::done(std::size_t entry) {
    std::optional<DeviceEvent>& done = entries_[entry].done;
    return done ? *done : done.emplace();
}

void Iteration::enqueue(Meanwhile const& meanwhile, Marks* marks) {
    if (begun_) {
        begun_->record(queues_.communication);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        queueing_.store(i, std::memory_order_relaxed);
        Entry& entry = entries_[i];
        if (entry.after != nullptr) {
            entry.queue->wait_for(*entry.after);
        }
        std::visit([&](auto const& work) { enqueue_on(*entry.queue, work, meanwhile); }, entry.work);
        if (marks != nullptr) {
            marks->record(i, *entry.queue);
        }
        // Behind the mark, which in a graph is work of its own: an end of the capture that nothing waits for is
        // refused.
        if (entry.done) {
            entry.done->record(*entry.queue);
        }
    }
    queueing_.store(entries_.size(), std::memory_order_relaxed);
    if (computed_ != nullptr) {
        queues_.communication.wait_for(*computed_);
    }
}

}  // namespace dlmb::nccl
