// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method "copy": every thread copies what it receives straight from the sender's buffer.
//
// Takes    every operation, any sizes, host memory.
// Hot path a step is posted when what it waits for is complete, then polled; no lock, no allocation.
// Host     drives it.
// Sends are rendezvous: a step is complete when its receivers have copied. A plan that needs buffering hangs here.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/in_process/schedule.hpp"
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/plan/ready_queue.hpp"

#include <vector>

namespace dlmb::in_process {

class CopyPlan final : public CompiledPlan {
public:
    CopyPlan(Plan const& plan, std::vector<Work> schedule, InProcessBootstrap const& bootstrap, Idle idle);
    CopyPlan(CopyPlan const&) = delete;
    CopyPlan& operator=(CopyPlan const&) = delete;
    ~CopyPlan() override;

    void launch() override;
    void finish() override;

private:
    void start_ready();
    void post(Work& work) const;
    [[nodiscard]] bool advance_open();
    [[nodiscard]] bool advance(Work& work);
    void copy_arrivals(Work& work);
    void fold_arrivals(Work& work, Folding& fold);

    std::vector<Work> schedule_;  // by step
    ReadyQueue queue_;
    std::vector<StepId> open_;  // posted, not complete
    InProcessBootstrap const& bootstrap_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::in_process
