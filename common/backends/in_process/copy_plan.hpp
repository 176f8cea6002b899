// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Method "copy": every thread copies what it receives straight from the sender's buffer.
//
// Takes    every operation, any sizes, host memory.
// Hot path everything of a wave is posted, then polled until it is done; no lock, no allocation.
// Host     drives it: the next wave starts when this one is complete on this rank.
// Sends are rendezvous: a step is complete when its receivers have copied. A plan that needs buffering hangs here.
#pragma once

#include "common/backend/backend.hpp"
#include "common/backends/in_process/schedule.hpp"
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"

#include <vector>

namespace dlmb::in_process {

class CopyPlan final : public CompiledPlan {
public:
    CopyPlan(std::size_t steps, std::vector<Wave> schedule, InProcessBootstrap const& bootstrap, Idle idle)
        : CompiledPlan(steps), schedule_(std::move(schedule)), bootstrap_(bootstrap), idle_(idle) {}
    CopyPlan(CopyPlan const&) = delete;
    CopyPlan& operator=(CopyPlan const&) = delete;
    ~CopyPlan() override;

    void launch() override;
    void finish() override;

private:
    void post(Wave& wave);
    void complete(Wave& wave);
    [[nodiscard]] bool advance(Work& work);
    void copy_arrivals(Work& work);
    void fold_arrivals(Work& work, Folding& fold);

    std::vector<Wave> schedule_;
    InProcessBootstrap const& bootstrap_;
    Idle idle_;
    std::uint64_t iteration_ = 0;
};

}  // namespace dlmb::in_process
