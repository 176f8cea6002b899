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

struct MakeNative {
    template <class Call>
    Iteration::Entry::Native operator()(Call& call) const {
        if constexpr (std::is_same_v<Call, Compute>) {
            return DeviceCompute(call);
        } else {
            return std::move(call);
        }
    }
};

}  // namespace

Iteration::Iteration(std::vector<Item> items, Queues const& queues, Marking marking)
    : queues_(queues), marking_(marking) {
    entries_.reserve(items.size());  // events are pointed to
    for (Item& item : items) {
        DeviceQueue const& queue = item.computes() ? queues.computation : queues.communication;
        entries_.push_back({std::visit(MakeNative{}, item.work), std::move(item.steps), &queue, DeviceEvent()});
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

void Iteration::enqueue(Meanwhile const& meanwhile) {
    begin_.record(queues_.communication);
    for (Entry& entry : entries_) {
        if (entry.after != nullptr) {
            entry.queue->wait_for(*entry.after);
        }
        std::visit([&](auto const& work) { nccl::enqueue(work, *entry.queue, meanwhile); }, entry.work);
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
