// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan bound to buffers, endpoints and tags. A task starts as soon as what must precede it has happened on this rank;
// all that have started run side by side.
#pragma once

#include "common/backend_kit/ready_steps.hpp"
#include "common/backends/ucx/tasks.hpp"

#include <memory>

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
    /// Of a task that has started.
    struct Progress {
        void* request = nullptr;  // of a message
        std::uint64_t done = 0;   // bytes of local work; on the device, the number of the piece of work
    };

    // What the shared loop calls.
    friend class ReadySteps<Progress>;
    [[nodiscard]] bool start(std::uint32_t number, Progress& progress);
    [[nodiscard]] bool poll(std::uint32_t number, Progress& progress);
    void complete(std::uint32_t number) {
        if (tasks_.all[number].ends_step) {
            mark(tasks_.all[number].step);
        }
    }
    void idle() const { worker_.progress_or_idle(); }

    [[nodiscard]] std::string_view name_of_step(Task const& task) const { return tasks_.step_names[task.step]; }

    ScheduleResources resources_;  // outlives the batches
    Tasks tasks_;
    Worker& worker_;
    Workers& workers_;
    ReadySteps<Progress> ready_steps_;
    ucp_tag_t iteration_bits_ = 0;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::ucx
