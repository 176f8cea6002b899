// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One iteration as what two queues of a device do: the native calls of its items, the events by which the queues wait
// for each other, and nothing else unless marks are asked for.
#pragma once

#include "common/backend_kit/compute.hpp"
#include "common/backends/nccl/calls.hpp"

#include <atomic>
#include <functional>

namespace dlmb::nccl {

/// The host calls this now and then while NCCL connects ranks, which may take a peer that is late. May throw.
using Meanwhile = std::function<void()>;

// alltoall_native.cpp or alltoall_absent.cpp; CMake picks one.
/// Why ncclAlltoAll cannot be called; nullptr when it can.
[[nodiscard]] char const* all_to_all_missing();
/// Calls ncclAlltoAll. Throws Error where the library is older than 2.28.
ncclResult_t all_to_all(CollectiveCall const& call, cudaStream_t stream);

// one_sided_native.cpp or one_sided_absent.cpp; CMake picks one.
/// Whether this build has ncclPutSignal, ncclSignal and ncclWaitSignal (NCCL 2.29).
[[nodiscard]] bool has_one_sided_calls();
/// Calls ncclWaitSignal, or ncclPutSignal and ncclSignal in a group. Throws Error where the library has none.
ncclResult_t post(OneSidedCall const& call, cudaStream_t stream);

/// The streams of a backend; its plans share them, one iteration at a time.
struct Queues {
    DeviceQueue communication;
    DeviceQueue computation;
};

/// A timed event behind each item of an iteration. They cost the device microseconds, so only iterations that are asked
/// for their phases have them.
class Marks {
public:
    /// replayed: so that they can be asked for when the iteration was captured into a graph and is replayed.
    enum class In { stream, replayed };

    Marks(std::size_t items, In in) : events_(items), in_(in) {}
    void record(std::size_t item, DeviceQueue const& queue);
    [[nodiscard]] TimedEvent& operator[](std::size_t item) { return events_[item]; }
    [[nodiscard]] TimedEvent const& operator[](std::size_t item) const { return events_[item]; }

private:
    std::vector<TimedEvent> events_;
    In in_;
};

class Iteration {
public:
    struct Entry {
        std::variant<GroupedCall, CollectiveCall, OneSidedCall, DeviceCompute> work;
        std::vector<StepId> steps;  // complete together
        DeviceQueue const* queue;
        DeviceEvent const* after = nullptr;    // of the other queue
        std::optional<DeviceEvent> done = {};  // where the other queue waits for it
    };

    /// Measures the device where the plan computes. `buffers`: what it converts in. Throws Error.
    Iteration(std::vector<Item> items, Buffers const& buffers, Queues const& queues);

    /// Afterwards all work is complete when the communication queue is. `marks`: one per entry, or nullptr.
    void enqueue(Meanwhile const& meanwhile, Marks* marks);

    [[nodiscard]] std::vector<Entry> const& entries() const { return entries_; }
    /// The entry that the host is about to queue, which NCCL may not return from; entries().size(): none. Read in a
    /// signal handler.
    [[nodiscard]] std::size_t queueing() const noexcept { return queueing_.load(std::memory_order_relaxed); }

private:
    void order(std::vector<Item> const& items);
    [[nodiscard]] DeviceEvent const& done(std::size_t entry);

    Queues const& queues_;
    std::vector<Entry> entries_;
    std::optional<DeviceEvent> begun_;       // where the first computation waits for nothing else
    DeviceEvent const* computed_ = nullptr;  // the end of the computation queue; nullptr: it has nothing to do
    std::atomic<std::size_t> queueing_;
};

}  // namespace dlmb::nccl
