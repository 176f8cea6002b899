// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Local work of a plan: copies and reductions in this rank's memory, and the scratch memory of its algorithms. The host
// works in pieces and makes progress for its peers between two of them. A device works in queues beside the host.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/memory/device_queue.hpp"
#include "common/memory/memory_space.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::ucx {

/// to = left, or to = left (reduction) right where there is a right operand.
struct LocalWork {
    std::byte* to = nullptr;
    std::byte const* left = nullptr;
    std::byte const* right = nullptr;
    Bytes bytes = 0;
    Element element = Element::byte;
    Reduction reduction = Reduction::sum;
};

/// Host memory: does the next piece of `work`, of which `done` bytes are done. True: that was the last.
[[nodiscard]] bool do_piece(LocalWork const& work, Bytes& done);

/// Memory of the device.
void queue_work(DeviceQueue const& queue, LocalWork const& work);

/// A queue of the device with an event behind each piece of work, so that the host learns of each while others are
/// still in flight. Nothing is allocated after construction.
class TrackedQueue {
public:
    /// `most`: pieces of work that are marked and not complete at one time.
    explicit TrackedQueue(std::size_t most) : events_(most) {}

    [[nodiscard]] DeviceQueue const& queue() const { return queue_; }
    /// Ends a piece of work, queued since the last call, and returns its number.
    [[nodiscard]] std::uint64_t mark() {
        event_of(marked_).record(queue_);
        return marked_++;
    }
    /// Pieces are complete in order, so the driver is asked about the oldest only, and a later one is not complete
    /// before somebody has asked for all that are older.
    [[nodiscard]] bool complete(std::uint64_t number) {
        if (number == completed_ && event_of(number).reached()) {
            ++completed_;
        }
        return number < completed_;
    }

private:
    [[nodiscard]] DeviceEvent& event_of(std::uint64_t number) { return events_[number % events_.size()]; }

    DeviceQueue queue_;
    std::vector<DeviceEvent> events_;
    std::uint64_t marked_ = 0;
    std::uint64_t completed_ = 0;
};

/// Where the device works for one plan: copies and reductions in one queue, Compute steps beside them in another.
struct TrackedQueues {
    TrackedQueues(std::size_t most_work, std::size_t most_computes) : work(most_work), compute(most_computes) {}

    TrackedQueue work;
    TrackedQueue compute;
};

/// Steps that follow each other share scratch memory; steps that may run side by side do not.
struct ScratchLayout {
    std::vector<Bytes> offsets;  // by StepId
    Bytes bytes = 0;
};

/// `needed`: bytes by StepId.
[[nodiscard]] ScratchLayout lay_out_scratch(Plan const& plan, std::vector<Bytes> const& needed);

/// Memory that UCX takes for what `kind` is, because all messages of a plan name one memory type. Throws Error.
[[nodiscard]] Allocation allocate_scratch(MemoryKind kind, Bytes bytes);

}  // namespace dlmb::ucx
