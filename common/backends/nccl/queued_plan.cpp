// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/queued_plan.hpp"

#include "common/backends/nccl/check.hpp"
#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dlmb::nccl {
namespace {

/// Ended whatever happens: a stream that stays in capture takes no other work.
class Capture {
public:
    explicit Capture(cudaStream_t stream) : stream_(stream) {
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    }
    Capture(Capture const&) = delete;
    Capture& operator=(Capture const&) = delete;
    ~Capture() {
        if (!ended_) {
            cudaStreamEndCapture(stream_, &graph_);
        }
        if (graph_ != nullptr) {
            cudaGraphDestroy(graph_);
        }
    }

    [[nodiscard]] cudaGraph_t end() {
        ended_ = true;
        check(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture");
        return graph_;
    }

private:
    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    bool ended_ = false;
};

}  // namespace

Graph::Graph(DeviceQueue const& queue, std::function<void()> const& enqueue) {
    Capture capture(stream_of(queue.native()));
    enqueue();
    check(cudaGraphInstantiateWithFlags(&executable_, capture.end(), 0), "cudaGraphInstantiateWithFlags");
}

Graph::~Graph() {
    if (executable_ != nullptr) {
        cudaGraphExecDestroy(executable_);
    }
}

void Graph::launch(DeviceQueue const& queue) const {
    check(cudaGraphLaunch(executable_, stream_of(queue.native())), "cudaGraphLaunch");
}

QueuedPlan::QueuedPlan(Plan const& plan, Buffers const& buffers, std::vector<Item> items, Method const& method,
                       Registration registration, Shared const& shared)
    : CompiledPlan(plan.steps.size()), shared_(shared), registration_(std::move(registration)),
      algorithm_(method.algorithm), forced_calls_(algorithm_ ? calls_of(*algorithm_, plan) : 0),
      iteration_(std::move(items), buffers, shared.queues, method.graph ? Marking::external : Marking::plain),
      started_(method.graph ? graph_begin_ : iteration_.begin()),
      ended_(iteration_.end() != nullptr ? iteration_.end() : &after_all_) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    ends_.resize(iteration_.entries().size());
    if (method.graph) {
        launched_ns_ = now_ns();
        graph_.emplace(shared.queues.communication, [this] { iteration_.enqueue(while_waiting_); });
    }
}

QueuedPlan::~QueuedPlan() {
    if (graph_ && shared_.communicators.aborted()) {
        graph_->leave();
    }
}

void QueuedPlan::launch() {
    begin();
    enqueue();
}

bool QueuedPlan::launch_behind(DeviceGate& gate) {
    begin();
    gate.close(shared_.queues.communication);
    enqueue();
    return true;
}

void QueuedPlan::enqueue() {
    followed_ = 0;
    launched_ns_ = now_ns();
    if (graph_) {
        graph_begin_.record(shared_.queues.communication);
        graph_->launch(shared_.queues.communication);
    } else {
        enqueue_calls();
    }
    if (ended_ == &after_all_) {
        after_all_.record(shared_.queues.communication);
    }
}

void QueuedPlan::enqueue_calls() {
    if (!algorithm_) {
        iteration_.enqueue(while_waiting_);
        return;
    }
    Forcing const forcing(shared_.tuner.control(), *algorithm_);
    iteration_.enqueue(while_waiting_);
    seen_ = forcing.seen();
    if (tried_ && seen_.honoured != forced_calls_) {
        throw Error("nccl: the algorithm that was forced at set-up was not taken in an iteration");
    }
}

std::string QueuedPlan::try_one_iteration() {
    launch();
    finish();
    tried_ = true;
    if (seen_.forbidden > 0) {
        return "not applicable: NCCL cannot run this algorithm with this protocol here, or its settings forbid it";
    }
    return seen_.honoured == forced_calls_
               ? ""
               : fmt::format("not applicable: NCCL asked its tuner about {} of {} collectives", seen_.honoured,
                             forced_calls_);
}

Provenance QueuedPlan::provenance() const {
    return algorithm_ ? facts_of(*algorithm_) : Provenance{};
}

void QueuedPlan::finish() {
    constexpr unsigned polls_between_checks = 256;
    for (unsigned polls = 1; !ended_->reached(); ++polls) {
        if (polls % polls_between_checks == 0) {
            check_progress();
        }
        shared_.idle();
    }
    ended_ns_ = now_ns();
    advance_to(static_cast<std::uint32_t>(labels_.size()));
}

void QueuedPlan::check_progress() {
    follow();
    shared_.communicators.throw_if_failed();
    progress_or_give_up();
}

/// Asks nothing of the device, which during a capture must not be asked.
void QueuedPlan::progress_or_give_up() {
    shared_.bootstrap.progress();
    if (shared_.timeout_ns > 0 && now_ns() - launched_ns_ > shared_.timeout_ns) {
        give_up();
    }
}

/// The mark of a replayed entry still holds the iteration before until the device comes to it.
bool QueuedPlan::reached_now(DeviceEvent const& event) const {
    return event.since_if_reached(started_).value_or(-1) >= 0;
}

void QueuedPlan::follow() {
    auto const& entries = iteration_.entries();
    while (started_.reached() && followed_ < entries.size() && reached_now(entries[followed_].mark)) {
        for (StepId const step : entries[followed_].steps) {
            note_done(step);
        }
        ++followed_;
    }
}

void QueuedPlan::give_up() {
    auto const& entries = iteration_.entries();
    std::string const step =
        followed_ < entries.size() && !entries[followed_].steps.empty()
            ? fmt::format("step {} \"{}\"", entries[followed_].steps.front(), labels_[entries[followed_].steps.front()])
            : "the last step";
    double const seconds = static_cast<double>(now_ns() - launched_ns_) * 1e-9;
    shared_.communicators.abort();
    throw TimeoutError(
        fmt::format("nccl: {} is not complete after {:.1f} s; all communicators were aborted", step, seconds));
}

/// Counted back from the end, which the host saw: behind a gate the start is long after the launch.
void QueuedPlan::refine_marks() {
    auto const& entries = iteration_.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        ends_[i] = {ended_ns_ - ended_->since(entries[i].mark), i};
    }
    std::sort(ends_.begin(), ends_.end());
    std::size_t place = 0;
    for (auto const& [time_ns, entry] : ends_) {
        for (StepId const step : entries[entry].steps) {
            set_mark(place++, {step, time_ns});
        }
    }
    if (place > 0) {
        set_mark(place - 1, {entries[ends_.back().second].steps.back(), PhaseMark::at_finish});
    }
}

}  // namespace dlmb::nccl
