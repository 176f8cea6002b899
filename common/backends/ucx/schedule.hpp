// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan bound to buffers, endpoints and tags, as tasks. A task starts as soon as what must precede it has happened on
// this rank; all that have started run side by side. A step that is one exchange, gather or message is one batch. A
// step done by an algorithm is a join, a task per micro-step, and another join that stands for the whole. A Compute
// step is one task.
#pragma once

#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/ready_steps.hpp"
#include "common/backends/ucx/lowering.hpp"
#include "common/backends/ucx/one_sided.hpp"
#include "common/backends/ucx/puts.hpp"

#include <memory>
#include <utility>

namespace dlmb::ucx {

struct Task {
    enum class Kind : std::uint8_t {
        join,
        batch,
        one_sided,
        signals,
        send,
        receive,
        work,
        compute,
        device_work,
        device_compute
    };

    Kind kind = Kind::join;  // a join is complete when it is ready
    bool ends_step = false;  // when it is complete, the step is
    StepId step = 0;
    std::uint32_t index = 0;  // in the list of its kind; a join has none
};

struct Tasks {
    std::vector<Task> all;
    Precedence precedence;  // over `all`
    std::vector<std::unique_ptr<MessageBatch>> batches;
    std::unique_ptr<AccessesInFlight> in_flight;  // of the batches below, which refer to it
    std::vector<std::unique_ptr<OneSidedBatch>> one_sided;
    std::unique_ptr<Puts> puts;       // nullptr: there are none on any rank
    std::vector<Transfer> transfers;  // of tasks that send or receive
    std::vector<LocalWork> work;      // of the host or of the device
    std::vector<HostCompute> computes;
    std::vector<DeviceCompute> device_computes;
    std::vector<std::string> step_names;  // by StepId: for errors
};

struct TaskSources {
    Plan const& plan;
    Buffers const& buffers;
    std::vector<LoweredStep> const& steps;
    std::vector<StepMethod> const& step_methods;
    ChosenMethods const& methods;
    TrackedQueues* device = nullptr;       // does local work and Compute steps; nullptr: the host does
    RemoteMemory const* remote = nullptr;  // of steps by put and get
    std::unique_ptr<Puts> puts = nullptr;  // of steps with signals
};

/// The batches keep `messages` and the device's queues. Endpoints of all peers exist.
[[nodiscard]] Tasks build_tasks(TaskSources from, Messages& messages, Worker const& worker);

/// Resources that the schedule keeps alive besides its tasks.
struct ScheduleResources {
    std::unique_ptr<OperationRange> operations;
    std::unique_ptr<Messages> messages;
    std::unique_ptr<TrackedQueues> device;  // nullptr: host memory
    std::unique_ptr<RemoteMemory> remote;   // nullptr: no step is done by put or get
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
    bool poll() override;
    bool activate() override { return workers_.switch_to(worker_); }
    [[nodiscard]] Provenance provenance() const override { return worker_.provenance(); }

private:
    /// State of a task that has started.
    struct TaskProgress {
        void* request = nullptr;  // of a message
        std::uint64_t done = 0;   // bytes of local work; on the device, the number of the piece of work
    };

    // The shared loop calls these.
    friend class ReadySteps<TaskProgress>;
    [[nodiscard]] bool start(std::uint32_t number, TaskProgress& progress);
    [[nodiscard]] bool poll(std::uint32_t number, TaskProgress& progress);
    void complete(std::uint32_t number) {
        if (tasks_.all[number].ends_step) {
            mark(tasks_.all[number].step);
        }
    }
    /// Messages complete only while the worker makes progress, so a plan of nothing else need not be looked at before.
    void idle() {
        if (std::exchange(worked_, false)) {
            worker_.progress();
            return;
        }
        while (!worker_.progress_or_yield() && only_messages_) {
        }
    }

    [[nodiscard]] std::string_view name_of_step(Task const& task) const { return tasks_.step_names[task.step]; }

    ScheduleResources resources_;  // outlives the batches
    Tasks tasks_;
    Worker& worker_;
    Workers& workers_;
    bool worked_ = false;  // since the last idle(): pieces of work follow each other without giving the core away
    bool only_messages_;   // no task is work of the host or of a device
    ReadySteps<TaskProgress> ready_steps_;
    ucp_tag_t iteration_bits_ = 0;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::ucx
