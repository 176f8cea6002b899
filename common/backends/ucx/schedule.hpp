// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan bound to buffers, endpoints and tags. A task starts as soon as what must precede it has happened on this rank;
// all that have started run side by side.
#pragma once

#include "common/backends/ucx/shared_memory.hpp"
#include "common/backends/ucx/tasks.hpp"
#include "common/backends/ucx/transports.hpp"
#include "common/plan/ready_queue.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dlmb::ucx {

/// What the schedule keeps alive besides its tasks.
struct Holdings {
    std::unique_ptr<OperationRange> operations;
    std::unique_ptr<Messages> messages;
    std::unique_ptr<DeviceQueues> device;  // nullptr: host memory
    Allocation scratch;
    SharedMappings shared;
    Provenance window_use;  // for the record: what of a WindowUse matters to this plan
};

class Schedule final : public CompiledPlan {
public:
    Schedule(Tasks tasks, Holdings holdings, Transport& transport, Transports& transports);
    Schedule(Schedule const&) = delete;
    Schedule& operator=(Schedule const&) = delete;
    /// Requests left over by an exception are cancelled.
    ~Schedule() override;

    void launch() override;
    void finish() override;
    bool activate() override { return transports_.switch_to(transport_); }
    [[nodiscard]] Provenance provenance() const override;

private:
    struct Open {
        std::uint32_t task;
        void* request;           // of a message
        std::uint64_t progress;  // bytes done of local work; on the device, the number of the piece of work
    };

    void start_ready();
    void start(std::uint32_t number);
    /// True: something became complete.
    [[nodiscard]] bool poll();
    [[nodiscard]] bool settled(Open& each);
    void complete(std::uint32_t number);
    [[nodiscard]] std::string_view name_of_step(Task const& task) const { return tasks_.step_names[task.step]; }

    Holdings holdings_;  // outlives the lanes
    Tasks tasks_;
    Transport& transport_;
    Transports& transports_;
    ReadyQueue queue_;
    std::vector<Open> open_;  // started and not complete
    ucp_tag_t iteration_bits_ = 0;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::ucx
