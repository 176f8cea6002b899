// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One iteration as what two queues of a device do, with a mark behind each item.
#pragma once

#include "common/backend_kit/compute.hpp"
#include "common/backends/nccl/calls.hpp"

#include <functional>

namespace dlmb::nccl {

/// What the host does now and then while NCCL connects ranks, which may take a peer that is late. May throw.
using Meanwhile = std::function<void()>;

// alltoall_native.cpp or alltoall_absent.cpp; CMake picks one.
/// Why ncclAlltoAll cannot be called; nullptr when it can.
[[nodiscard]] char const* all_to_all_missing();
/// ncclAlltoAll, or an Error where the library is older than 2.28.
void all_to_all(CollectiveCall const& call, cudaStream_t stream);

/// The streams of a backend; its plans share them, one iteration at a time.
struct Queues {
    DeviceQueue communication;
    DeviceQueue computation;
};

/// How marks are recorded. external: so that they can be asked for when the iteration was captured into a graph and is
/// replayed; such marks cannot order the queues, which then have events of their own.
enum class Marking { plain, external };

class Iteration {
public:
    struct Entry {
        std::variant<GroupedCall, CollectiveCall, DeviceCompute> work;
        std::vector<StepId> steps;  // complete together
        DeviceQueue const* queue;
        DeviceEvent mark;                       // behind the work
        DeviceEvent const* after = nullptr;     // of the other queue
        std::optional<DeviceEvent> order = {};  // for the other queue, where the mark cannot order
    };

    /// Measures the device where the plan computes. `buffers`: what it converts in. Throws Error.
    Iteration(std::vector<Item> items, Buffers const& buffers, Queues const& queues, Marking marking);

    /// Afterwards all work is complete when the communication queue is.
    void enqueue(Meanwhile const& meanwhile);

    [[nodiscard]] DeviceEvent const& begin() const { return begin_; }
    /// The mark that all work is before; nullptr: none is, or it cannot be asked for.
    [[nodiscard]] DeviceEvent const* end() const;
    [[nodiscard]] std::vector<Entry> const& entries() const { return entries_; }

private:
    void order(std::vector<Item> const& items);
    [[nodiscard]] DeviceEvent const& orders(std::size_t entry);

    Queues const& queues_;
    Marking marking_;
    DeviceEvent begin_;
    std::vector<Entry> entries_;
    DeviceEvent const* computed_ = nullptr;  // the end of the computation queue; nullptr: it has nothing to do
};

}  // namespace dlmb::nccl
