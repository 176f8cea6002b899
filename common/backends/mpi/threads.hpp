// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method threads: messages that do not wait for each other are sent and received by threads of their own, as in
// osu_latency_mt. The rank's own thread is one of them. It starts the others in launch(), and finish() waits for them.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/mpi/prepared_call.hpp"
#include "common/base/idle.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace dlmb::mpi {

/// Whether MPI was started at MPI_THREAD_MULTIPLE.
[[nodiscard]] bool threads_may_call();
/// Why this rank cannot run the plan by threads; empty: it can.
[[nodiscard]] std::string threads_refusal(Plan const& plan);

class ThreadsPlan final : public CompiledPlan {
public:
    /// `plan` is one that threads_refusal() lets pass; `calls`, `setting`: as MpiPlan has them.
    ThreadsPlan(Plan const& plan, std::vector<PreparedCall> calls, std::string setting, Idle idle);
    ThreadsPlan(ThreadsPlan const&) = delete;
    ThreadsPlan& operator=(ThreadsPlan const&) = delete;
    ~ThreadsPlan() override;

    void launch() override;
    void finish() override;
    [[nodiscard]] Provenance provenance() const override;
    [[nodiscard]] std::optional<StepId> first_open_step() const noexcept override;

private:
    /// The work of one thread. On cache lines of its own: the threads write here in each iteration.
    struct alignas(64) ThreadSteps {
        std::vector<StepId> steps;
        std::vector<Ticks> ends;           // of `steps`
        std::atomic<std::size_t> done{0};  // read by first_open_step() from another thread
        std::exception_ptr failure;
    };

    void run(ThreadSteps& mine);
    void serve(ThreadSteps& mine);
    [[nodiscard]] std::uint64_t next_after(std::uint64_t iteration) const;
    void stop();
    [[noreturn]] void rethrow(ThreadSteps const& mine) const;
    void refine_marks() override;

    static constexpr std::uint64_t stopped = ~std::uint64_t{0};

    std::vector<PreparedCall> calls_;
    std::vector<std::string> labels_;
    std::vector<std::unique_ptr<ThreadSteps>> threads_steps_;  // the first is the rank's own thread's
    std::vector<PhaseMark> ends_;
    std::string setting_;
    Idle idle_;
    alignas(64) std::atomic<std::uint64_t> launched_{0};  // iterations
    alignas(64) std::atomic<std::uint64_t> done_{0};      // iterations of all other threads, added up
    alignas(64) std::atomic<bool> failed_{false};
    std::vector<std::thread> threads_;
};

}  // namespace dlmb::mpi
