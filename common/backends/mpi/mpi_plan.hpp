// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as prepared native calls, and the loop that makes them: waves in order, the steps of a wave together.
#pragma once

#include "common/backend/backend.hpp"
#include "common/backends/mpi/alltoallv.hpp"
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/isend_irecv.hpp"
#include "common/backends/mpi/neighbor.hpp"
#include "common/backends/mpi/pairwise.hpp"
#include "common/backends/mpi/persistent.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <string>
#include <variant>
#include <vector>

namespace dlmb::mpi {

/// A step that only takes time.
class BusyWait {
public:
    explicit BusyWait(Nanoseconds busy_ns) : busy_ns_(busy_ns) {}
    void run();
    void start() { end_ns_ = now_ns() + busy_ns_; }
    [[nodiscard]] bool test() const { return now_ns() >= end_ns_; }

private:
    Nanoseconds busy_ns_;
    Nanoseconds end_ns_ = 0;
};

/// run(): the whole step. start(), then test() until true: the step among others of its wave.
using Task = std::variant<Alltoallv, LargeAlltoallv, IsendIrecv, Pairwise, Neighbor, Persistent, Collective, BusyWait>;

struct PlannedTask {
    Task task;
    StepId step = 0;
    bool done = false;  // in the current iteration; used where a wave has several tasks
};

/// Consecutive tasks.
struct WaveRange {
    std::size_t first = 0;
    std::size_t count = 0;
};

class MpiPlan final : public CompiledPlan {
public:
    /// `labels`: by step, for messages; `place`: "mpi/alltoallv, host memory, 16 ranks".
    MpiPlan(std::vector<PlannedTask> tasks, std::vector<WaveRange> waves, std::vector<std::string> labels,
            std::string place, Idle idle);
    void launch() override;
    void finish() override {}  // launch() returns when the last wave is complete

private:
    void run_together(WaveRange const& wave);
    [[noreturn]] void rethrow_with_place(CallFailed const& failure) const;

    std::vector<PlannedTask> tasks_;
    std::vector<WaveRange> waves_;
    std::vector<std::string> labels_;
    std::string place_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
    StepId current_ = 0;
};

}  // namespace dlmb::mpi
