// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/threads.hpp"

#include "common/backends/mpi/messages.hpp"
#include "common/base/error.hpp"
#include "common/base/processing_units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>

namespace dlmb::mpi {
namespace {

constexpr std::size_t most_threads = 128;  // MAX_NUM_THREADS of OSU

struct StepDivision {
    std::vector<std::vector<StepId>> threads;
    std::string problem;  // why there is none; empty: there is one
};

// A thread does its steps one after the other. That is the plan's own order where a step waits for the one before, and
// MPI's order within a stream; any other order could make two ranks wait for each other.
StepDivision divide(Plan const& plan) {
    StepDivision division;
    std::map<MessageStream, std::size_t> thread_of_stream;
    std::vector<std::size_t> thread_of;  // by step
    std::vector<bool> is_stream;         // by thread: all its steps are of one stream
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        std::vector<StepId> const& after = plan.steps[step].after;
        auto const stream = stream_of(plan, plan.steps[step].operation);
        if (!stream) {
            return {{}, fmt::format("{} is no message", name_of(plan.steps[step].operation))};
        }
        auto const known = thread_of_stream.find(*stream);
        std::optional<std::size_t> thread;
        if (known != thread_of_stream.end()) {
            thread = known->second;
        } else if (!after.empty()) {
            thread = thread_of[after.front()];
        }
        if (!thread) {
            thread = division.threads.size();
            division.threads.emplace_back();
            is_stream.push_back(true);
        }
        std::vector<StepId>& steps = division.threads[*thread];
        bool const on_thread =
            std::all_of(after.begin(), after.end(), [&](StepId earlier) { return thread_of[earlier] == *thread; });
        bool const follows = !steps.empty() && std::find(after.begin(), after.end(), steps.back()) != after.end();
        bool const same_stream = steps.empty() || (is_stream[*thread] && known != thread_of_stream.end());
        if (!on_thread || !(follows || same_stream)) {
            return {{}, fmt::format("\"{}\" does not follow the messages of one thread", plan.steps[step].label)};
        }
        is_stream[*thread] = same_stream;
        steps.push_back(step);
        thread_of.push_back(*thread);
        thread_of_stream[*stream] = *thread;
    }
    if (division.threads.size() > most_threads) {
        division.problem = fmt::format("{} threads are more than {}", division.threads.size(), most_threads);
    }
    return division;
}

PreparedCall compile_on_thread(Operation const& operation, CompileContext const& context) {
    CompileContext alone = context;
    alone.concurrent = false;  // a thread makes its calls one after the other
    return compile_blocking_message(operation, alone);
}

/// Signals of the process are for the rank's own thread.
class NoSignals {
public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    NoSignals(NoSignals const&) = delete;
    NoSignals& operator=(NoSignals const&) = delete;
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

}  // namespace

bool threads_may_call() {
    int level = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    return level == MPI_THREAD_MULTIPLE;
}

std::string threads_refusal(Plan const& plan) {
    if (!threads_may_call()) {
        return "mpi: threads: several threads call MPI, which was not started for that: --mpi-thread multiple";
    }
    std::string const problem = divide(plan).problem;
    return problem.empty() ? ""
                           : fmt::format("mpi: threads: takes messages that wait for nothing or for the one before "
                                         "({})",
                                         problem);
}

ThreadsPlan::ThreadsPlan(Plan const& plan, std::vector<PreparedCall> calls, std::string setting, Idle idle)
    : CompiledPlan(plan.steps.size()), calls_(std::move(calls)), ends_(plan.steps.size()), setting_(std::move(setting)),
      idle_(idle) {
    for (Step const& step : plan.steps) {
        labels_.push_back(step.label);
    }
    for (std::vector<StepId>& steps : divide(plan).threads) {
        ThreadSteps& added = *threads_steps_.emplace_back(std::make_unique<ThreadSteps>());
        added.ends.resize(steps.size());
        added.steps = std::move(steps);
    }
    idle_ = Idle(idle.yields() || threads_steps_.size() > usable_processing_units().size());
    NoSignals const blocked;
    try {
        for (std::size_t other = 1; other < threads_steps_.size(); ++other) {
            threads_.emplace_back([this, other] { serve(*threads_steps_[other]); });
        }
    } catch (...) {
        stop();
        throw;
    }
}

ThreadsPlan::~ThreadsPlan() {
    stop();
}

void ThreadsPlan::stop() {
    launched_.store(stopped);
    launched_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void ThreadsPlan::launch() {
    begin();
    launched_.fetch_add(1, std::memory_order_release);
    launched_.notify_all();
}

void ThreadsPlan::finish() {
    if (threads_steps_.empty()) {
        return;
    }
    run(*threads_steps_.front());
    std::uint64_t const all = threads_.size() * launched_.load(std::memory_order_relaxed);
    while (done_.load(std::memory_order_acquire) != all) {
        idle_();
    }
    if (failed_.load(std::memory_order_relaxed)) {
        for (auto const& each : threads_steps_) {
            if (each->failure) {
                rethrow(*each);
            }
        }
    }
    advance_to(static_cast<std::uint32_t>(calls_.size()));
}

void ThreadsPlan::run(ThreadSteps& mine) {
    try {
        for (std::size_t step = 0; step < mine.steps.size(); ++step) {
            mine.done.store(step, std::memory_order_relaxed);
            calls_[mine.steps[step]].start_and_wait();
            mine.ends[step] = read_ticks();
        }
        mine.done.store(mine.steps.size(), std::memory_order_relaxed);
    } catch (...) {
        mine.failure = std::current_exception();
        failed_.store(true, std::memory_order_relaxed);
    }
}

std::optional<StepId> ThreadsPlan::first_open_step() const noexcept {
    std::optional<StepId> first;
    for (auto const& each : threads_steps_) {
        std::size_t const done = each->done.load(std::memory_order_relaxed);
        if (done < each->steps.size() && (!first || each->steps[done] < *first)) {
            first = each->steps[done];
        }
    }
    return first;
}

void ThreadsPlan::serve(ThreadSteps& mine) {
    for (std::uint64_t iteration = next_after(0); iteration != stopped; iteration = next_after(iteration)) {
        run(mine);
        done_.fetch_add(1, std::memory_order_release);
    }
}

// Between the iterations of a sample the thread looks for the next one, so that it begins at once. While other cells
// are measured it sleeps.
std::uint64_t ThreadsPlan::next_after(std::uint64_t iteration) const {
    constexpr int looks = 10000;
    for (int look = 0; look < looks; ++look) {
        if (std::uint64_t const launched = launched_.load(std::memory_order_acquire); launched != iteration) {
            return launched;
        }
        idle_();
    }
    launched_.wait(iteration, std::memory_order_acquire);
    return launched_.load(std::memory_order_acquire);
}

void ThreadsPlan::rethrow(ThreadSteps const& mine) const {
    try {
        std::rethrow_exception(mine.failure);
    } catch (CallFailed const& failure) {
        StepId const step = mine.steps[mine.done];
        throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), setting_,
                                launched_.load() - 1, step, labels_[step]),
                    failure.where());
    }
}

void ThreadsPlan::refine_marks() {
    TickScale const scale;
    std::size_t place = 0;
    for (auto const& each : threads_steps_) {
        for (std::size_t i = 0; i < each->steps.size(); ++i) {
            ends_[place++] = {each->steps[i], scale.time_of(each->ends[i])};
        }
    }
    std::sort(ends_.begin(), ends_.end(), [](PhaseMark const& a, PhaseMark const& b) { return a.time_ns < b.time_ns; });
    for (place = 0; place < ends_.size(); ++place) {
        bool const last = place + 1 == ends_.size();
        set_mark(place, {ends_[place].step, last ? PhaseMark::at_finish : ends_[place].time_ns});
    }
}

Provenance ThreadsPlan::provenance() const {
    return {{"mpi_threads", fmt::format("{}", threads_steps_.size())},
            {"mpi_threads_units", fmt::format("{}", usable_processing_units().size())}};
}

// By its compile() alone these are calls of one thread, so nothing but ThreadsPlan may run them.
Method threads() {
    return {.info = {"threads",
                     "MPI_Send and MPI_Recv by several threads at once (--mpi-thread multiple)",
                     {OperationKind::send, OperationKind::recv}},
            .compile = compile_on_thread,
            .kind = MethodKind::threads};
}

}  // namespace dlmb::mpi
