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
      iteration_(std::move(items), buffers, shared.queues),
      marks_(iteration_.entries().size(), method.graph ? Marks::In::replayed : Marks::In::stream) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    auto const& entries = iteration_.entries();
    ends_.resize(entries.size());
    if (method.graph) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            marks_[i].record(*entries[i].queue);  // may be asked for before a replay first comes to it
        }
        graph_.emplace(shared.queues.communication, [this] { iteration_.enqueue(while_waiting_, nullptr); });
        marked_graph_.emplace(shared.queues.communication, [this] { iteration_.enqueue(while_waiting_, &marks_); });
    }
}

QueuedPlan::~QueuedPlan() {
    if (shared_.communicators.aborted()) {
        for (std::optional<Graph>* const graph : {&graph_, &marked_graph_}) {
            if (*graph) {
                (*graph)->leave();
            }
        }
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
    enqueue_end();
    return true;
}

void QueuedPlan::enqueue() {
    followed_ = 0;
    end_queued_ = false;
    waiting_since_ns_ = 0;
    marked_ = keeps_marks();
    if (!marked_) {
        enqueue_work();
        return;
    }
    first_mark_.record(shared_.queues.communication);
    enqueue_work();
    last_mark_.record(shared_.queues.communication);
}

void QueuedPlan::enqueue_work() {
    if (graph_) {
        (marked_ ? marked_graph_ : graph_)->launch(shared_.queues.communication);
    } else {
        enqueue_calls(marked_ ? &marks_ : nullptr);
    }
}

/// Where iterations follow each other in the queue, of the last of them only.
void QueuedPlan::enqueue_end() {
    ended_.record(shared_.queues.communication);
    end_queued_ = true;
}

void QueuedPlan::enqueue_calls(Marks* marks) {
    if (!algorithm_) {
        iteration_.enqueue(while_waiting_, marks);
        return;
    }
    Forcing const forcing(shared_.tuner.control(), *algorithm_);
    iteration_.enqueue(while_waiting_, marks);
    seen_ = forcing.seen();
    if (tried_ && seen_.honoured != forced_calls_) {
        throw Error("nccl: the algorithm that was forced at set-up was not taken in an iteration");
    }
}

std::optional<Nanoseconds> QueuedPlan::device_ns() {
    return marked_ ? std::optional(last_mark_.since(first_mark_)) : std::nullopt;
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
    if (!end_queued_) {
        enqueue_end();
    }
    for (unsigned polls = 1; !ended_.reached(); ++polls) {
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
    if (waiting_since_ns_ == 0) {
        waiting_since_ns_ = now_ns();
    } else if (shared_.timeout_ns > 0 && now_ns() - waiting_since_ns_ > shared_.timeout_ns) {
        give_up();
    }
}

/// The mark of a replayed entry still holds the iteration before until the device comes to it.
bool QueuedPlan::reached_now(TimedEvent const& event) const {
    return event.since_if_reached(first_mark_).value_or(-1) >= 0;
}

void QueuedPlan::follow() {
    auto const& entries = iteration_.entries();
    while (marked_ && first_mark_.reached() && followed_ < entries.size() && reached_now(marks_[followed_])) {
        for (StepId const step : entries[followed_].steps) {
            note_done(step);
        }
        ++followed_;
    }
}

/// Where the host stands in a call of NCCL, or the first that has no mark yet. Without marks the host knows of a device
/// only that it has not ended.
std::optional<StepId> QueuedPlan::first_open_step() const noexcept {
    auto const& entries = iteration_.entries();
    std::size_t const queueing = iteration_.queueing();
    if (queueing < entries.size()) {
        return entries[queueing].steps.empty() ? std::nullopt : std::optional(entries[queueing].steps.front());
    }
    return marked_ || entries.size() == 1 ? CompiledPlan::first_open_step() : std::nullopt;
}

std::string QueuedPlan::unfinished_step() const {
    auto const& entries = iteration_.entries();
    auto const name = [&](StepId step) { return fmt::format("step {} \"{}\"", step, labels_[step]); };
    if (auto const open = first_open_step()) {
        return name(*open);
    }
    bool const several = std::count_if(entries.begin(), entries.end(),
                                       [](Iteration::Entry const& entry) { return !entry.steps.empty(); }) > 1;
    return several && !marked_
               ? fmt::format("one of {} steps (iterations that are timed do not say which)", labels_.size())
               : "the last step";
}

void QueuedPlan::give_up() {
    std::string const step = unfinished_step();
    double const seconds = static_cast<double>(now_ns() - waiting_since_ns_) * 1e-9;
    shared_.communicators.abort();
    throw TimeoutError(
        fmt::format("nccl: {} is not complete after {:.1f} s; all communicators were aborted", step, seconds));
}

/// Counted back from the end, which the host saw: behind a gate the start is long after the launch.
void QueuedPlan::refine_marks() {
    if (!marked_) {
        return;
    }
    auto const& entries = iteration_.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        ends_[i] = {ended_ns_ - last_mark_.since(marks_[i]), i};
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
