// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/iteration.hpp"

#include "common/backends/nccl/check.hpp"

#include <type_traits>

namespace dlmb::nccl {
namespace {

void record_external(DeviceEvent const& event, DeviceQueue const& queue) {
    check(cudaEventRecordWithFlags(static_cast<cudaEvent_t>(event.native()), stream_of(queue.native()),
                                   cudaEventRecordExternal),
          "cudaEventRecordWithFlags");
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

void post(GroupedCall const& call, cudaStream_t stream) {
    check(ncclGroupStart(), "ncclGroupStart");
    for (Transfer const& receive : call.receives) {
        check(ncclRecv(receive.data, receive.bytes, ncclUint8, receive.peer, call.communicator, stream), "ncclRecv");
    }
    for (Transfer const& send : call.sends) {
        check(ncclSend(send.data, send.bytes, ncclUint8, send.peer, call.communicator, stream), "ncclSend");
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
}

void post(CollectiveCall const& call, cudaStream_t stream) {
    switch (call.kind) {
    case OperationKind::exchange:
        all_to_all(call, stream);
        break;
    case OperationKind::all_gather:
        check(ncclAllGather(call.send, call.recv, call.count, call.type, call.communicator, stream), "ncclAllGather");
        break;
    case OperationKind::broadcast:
        check(ncclBroadcast(call.send, call.recv, call.count, call.type, call.root, call.communicator, stream),
              "ncclBroadcast");
        break;
    case OperationKind::reduce:
        check(ncclReduce(call.send, call.recv, call.count, call.type, call.operation, call.root, call.communicator,
                         stream),
              "ncclReduce");
        break;
    case OperationKind::all_reduce:
        check(ncclAllReduce(call.send, call.recv, call.count, call.type, call.operation, call.communicator, stream),
              "ncclAllReduce");
        break;
    default:
        check(ncclReduceScatter(call.send, call.recv, call.count, call.type, call.operation, call.communicator, stream),
              "ncclReduceScatter");
        break;
    }
}

/// Each returns when the device will do the work without the host. Throws Error.
template <class Call>
void enqueue_on(DeviceQueue const& queue, Call const& call, Meanwhile const& meanwhile) {
    post(call, stream_of(queue.native()));
    until_enqueued(call.communicator, meanwhile);
}
void enqueue_on(DeviceQueue const& queue, DeviceCompute const& compute, Meanwhile const& /*meanwhile*/) {
    compute.start(queue);
}

}  // namespace

Iteration::Iteration(std::vector<Item> items, Buffers const& buffers, Queues const& queues, Marking marking)
    : queues_(queues), marking_(marking) {
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
        entries_.push_back({std::visit(work, item.work), std::move(item.steps), &queue, DeviceEvent()});
        if (marking == Marking::external) {
            entries_.back().mark.record(queue);  // may be asked for before a replay first comes to it
        }
    }
    order(items);
}

/// The computation queue is empty when an iteration begins, but must not run ahead of it: its first item waits for the
/// begin, which is also how a capture comes to hold it.
void Iteration::order(std::vector<Item> const& items) {
    std::optional<std::size_t> last_computation;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].wait) {
            entries_[i].after = &orders(*items[i].wait);
        } else if (items[i].computes() && !last_computation) {
            entries_[i].after = &begin_;
        }
        last_computation = items[i].computes() ? i : last_computation;
    }
    computed_ = last_computation ? &orders(*last_computation) : nullptr;
}

DeviceEvent const& Iteration::orders(std::size_t entry) {
    if (marking_ == Marking::plain) {
        return entries_[entry].mark;
    }
    std::optional<DeviceEvent>& order = entries_[entry].order;
    return order ? *order : order.emplace();
}

DeviceEvent const* Iteration::end() const {
    bool const is_marked = marking_ == Marking::plain && computed_ == nullptr && !entries_.empty();
    return is_marked ? &entries_.back().mark : nullptr;
}

void Iteration::enqueue(Meanwhile const& meanwhile) {
    begin_.record(queues_.communication);
    for (Entry& entry : entries_) {
        if (entry.after != nullptr) {
            entry.queue->wait_for(*entry.after);
        }
        std::visit([&](auto const& work) { enqueue_on(*entry.queue, work, meanwhile); }, entry.work);
        if (marking_ == Marking::external) {
            record_external(entry.mark, *entry.queue);
        } else {
            entry.mark.record(*entry.queue);
        }
        // Behind the mark, which in a graph is work of its own: an end of the capture that nothing waits for is
        // refused.
        if (entry.order) {
            entry.order->record(*entry.queue);
        }
    }
    if (computed_ != nullptr) {
        queues_.communication.wait_for(*computed_);
    }
}

}  // namespace dlmb::nccl
