// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A queue of the device with an event behind each piece of work, so that the host learns of each while others are still
// in flight. Hot path, hence in the header: nothing is allocated after construction.
#pragma once

#include "common/memory/device_queue.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::ucx {

class TrackedQueue {
public:
    /// `most`: pieces of work that are marked and not complete at one time.
    explicit TrackedQueue(std::size_t most) : events_(most) {}

    [[nodiscard]] DeviceQueue const& queue() const { return queue_; }
    /// What was queued since the last call is a piece of work; its number.
    [[nodiscard]] std::uint64_t mark() {
        event_of(marked_).record(queue_);
        return marked_++;
    }
    /// Pieces are complete in order, so that the driver is asked about the oldest only, and a later one is not complete
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
struct DeviceQueues {
    DeviceQueues(std::size_t most_work, std::size_t most_computes) : work(most_work), compute(most_computes) {}

    TrackedQueue work;
    TrackedQueue compute;
};

}  // namespace dlmb::ucx
