// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan bound to buffers, endpoints and tags. A task starts as soon as what must precede it has happened on this rank;
// all that have started run side by side.
#pragma once

#include "common/backends/ucx/tasks.hpp"
#include "common/plan/ready_queue.hpp"

#include <memory>
#include <vector>

namespace dlmb::ucx {

/// What the schedule keeps alive besides its tasks.
struct ScheduleResources {
    std::unique_ptr<OperationRange> operations;
    std::unique_ptr<Messages> messages;
    std::unique_ptr<DeviceQueues> device;  // nullptr: host memory
    Allocation scratch;
};

class Schedule final : public CompiledPlan {
public:
    Schedule(Tasks tasks, ScheduleResources resources, Worker& worker, Workers& workers);
    Schedule(Schedule const&) = delete;
    Schedule& operator=(Schedule const&) = delete;
    /// Requests left over by an exception are cancelled.
    ~Schedule() override;

    void launch() override;
    void finish() override;
    bool activate() override { return workers_.switch_to(worker_); }
    [[nodiscard]] Provenance provenance() const override { return worker_.provenance(); }

private:
    struct Running {
        std::uint32_t task;
        void* request;           // of a message
        std::uint64_t progress;  // bytes done of local work; on the device, the number of the piece of work
    };

    void start_ready();
    void start(std::uint32_t number);
    /// True: something became complete.
    [[nodiscard]] bool poll();
    [[nodiscard]] bool is_complete(Running& each);
    void complete(std::uint32_t number);
    [[nodiscard]] std::string_view name_of_step(Task const& task) const { return tasks_.step_names[task.step]; }

    ScheduleResources resources_;  // outlives the batches
    Tasks tasks_;
    Worker& worker_;
    Workers& workers_;
    ReadyQueue queue_;
    std::vector<Running> running_;
    ucp_tag_t iteration_bits_ = 0;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::ucx
