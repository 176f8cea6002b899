// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan whose iterations the device runs by itself: the host enqueues one and polls for its end, and meanwhile looks
// after everything that could keep the end from coming.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/nccl/communicators.hpp"
#include "common/backends/nccl/iteration.hpp"
#include "common/backends/nccl/methods.hpp"
#include "common/backends/nccl/registration.hpp"
#include "common/backends/nccl/tuner.hpp"
#include "common/memory/device_queue.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::nccl {

class Graph {
public:
    /// Captures the work that `enqueue` queues on `queue`, and on queues that wait for it; nothing is done yet. The
    /// capture concerns the calling thread only. Throws Error.
    Graph(DeviceQueue const& queue, std::function<void()> const& enqueue);
    Graph(Graph const&) = delete;
    Graph& operator=(Graph const&) = delete;
    ~Graph();

    void launch(DeviceQueue const& queue) const;
    /// The communicators in it are no more, and freeing it would ask them: it stays until the process ends.
    void leave() { executable_ = nullptr; }

private:
    cudaGraphExec_t executable_ = nullptr;
};

/// Shared by the plans of a backend. Outlives them.
struct Shared {
    Bootstrap& bootstrap;
    Communicators& communicators;
    Tuner const& tuner;
    Queues const& queues;
    Idle idle;
    Nanoseconds timeout_ns = 0;  // for one iteration; 0: none
};

class QueuedPlan final : public CompiledPlan {
public:
    /// method.graph: captured here, replayed by launch().
    QueuedPlan(Plan const& plan, Buffers const& buffers, std::vector<Item> items, Method const& method,
               Registration registration, Shared const& shared);
    ~QueuedPlan() override;
    QueuedPlan(QueuedPlan const&) = delete;
    QueuedPlan& operator=(QueuedPlan const&) = delete;

    void launch() override;
    void finish() override;
    [[nodiscard]] bool launch_behind(DeviceGate& gate) override;
    [[nodiscard]] bool queues_iterations() const override { return true; }
    [[nodiscard]] std::optional<Nanoseconds> device_ns() override;
    [[nodiscard]] Provenance provenance() const override;
    [[nodiscard]] std::optional<StepId> first_open_step() const noexcept override;

    /// One iteration, whatever the buffers hold. Why NCCL does not run the method's algorithm; empty: it does.
    [[nodiscard]] std::string try_one_iteration();

private:
    void enqueue();
    void enqueue_work();
    void enqueue_calls(Marks* marks);
    void enqueue_end();
    void refine_marks() override;
    void check_progress();
    void progress_or_give_up();
    void follow();
    [[nodiscard]] bool reached_now(TimedEvent const& event) const;
    [[nodiscard]] std::string unfinished_step() const;
    [[noreturn]] void give_up();

    Shared const& shared_;
    std::vector<std::string> labels_;  // by step
    Registration registration_;
    std::optional<AlgorithmChoice> algorithm_;
    std::uint64_t forced_calls_ = 0;  // of an iteration
    nccl_tuner::Counters seen_{};     // in the newest iteration
    bool tried_ = false;              // from then on every iteration must be forced
    Iteration iteration_;
    Meanwhile while_waiting_{[this] { progress_or_give_up(); }};  // made once: the hot path allocates nothing
    std::optional<Graph> graph_;
    std::optional<Graph> marked_graph_;
    DeviceEvent ended_;    // all that an iteration records which is not asked for its marks
    bool marked_ = false;  // the newest iteration; the events below are its
    TimedEvent first_mark_;
    Marks marks_;
    TimedEvent last_mark_;
    bool end_queued_ = false;
    Nanoseconds waiting_since_ns_ = 0;  // 0: nobody had to wait long enough to look; launches read no clock
    Nanoseconds ended_ns_ = 0;
    std::size_t followed_ = 0;                               // entries known to be complete
    std::vector<std::pair<Nanoseconds, std::size_t>> ends_;  // by time: of which entry
};

}  // namespace dlmb::nccl
