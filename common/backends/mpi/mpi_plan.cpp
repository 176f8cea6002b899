// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/mpi_plan.hpp"

#include <fmt/core.h>

namespace dlmb::mpi {

void BusyWait::run() {
    start();
    while (!test()) {
    }
}

MpiPlan::MpiPlan(std::vector<PlannedTask> tasks, std::vector<WaveRange> waves, std::vector<std::string> labels,
                 std::string place, Idle idle)
    : CompiledPlan(labels.size()), tasks_(std::move(tasks)), waves_(std::move(waves)), labels_(std::move(labels)),
      place_(std::move(place)), idle_(idle) {}

void MpiPlan::launch() {
    begin();
    ++iteration_;
    try {
        for (WaveRange const& wave : waves_) {
            if (wave.count == 1) {
                PlannedTask& only = tasks_[wave.first];
                current_ = only.step;
                std::visit([](auto& task) { task.run(); }, only.task);
                mark(only.step);
            } else {
                run_together(wave);
            }
        }
    } catch (CallFailed const& failure) {
        rethrow_with_place(failure);
    }
}

void MpiPlan::run_together(WaveRange const& wave) {
    std::span<PlannedTask> const tasks = std::span(tasks_).subspan(wave.first, wave.count);
    for (PlannedTask& planned : tasks) {
        current_ = planned.step;
        planned.done = false;
        std::visit([](auto& task) { task.start(); }, planned.task);
    }
    for (std::size_t left = wave.count; left > 0;) {
        std::size_t const before = left;
        for (PlannedTask& planned : tasks) {
            current_ = planned.step;
            if (!planned.done && std::visit([](auto& task) { return task.test(); }, planned.task)) {
                planned.done = true;
                mark(planned.step);
                --left;
            }
        }
        if (left == before) {
            idle_();
        }
    }
}

void MpiPlan::rethrow_with_place(CallFailed const& failure) const {
    throw Error(fmt::format("{}\n  in {}, iteration {} of this plan, step {} \"{}\"", failure.summary(), place_,
                            iteration_ - 1, current_, labels_[current_]),
                failure.where());
}

}  // namespace dlmb::mpi
