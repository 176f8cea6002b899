// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/rehearsal.hpp"

#include "common/backends/mpi/translate.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::mpi {

std::string rehearse(Plan const& plan, std::span<Task> tasks, std::span<StepId const> steps) {
    std::string failure;
    for (StepId const step : collective_order(plan)) {
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
            continue;
        }
        try {
            std::visit(
                [](auto& task) {
                    task.start();
                    task.wait();
                },
                tasks[step]);
        } catch (CallFailed const& error) {
            if (failure.empty()) {
                failure = fmt::format("\"{}\": {}", plan.steps[step].label, error.summary());
                std::replace(failure.begin(), failure.end(), '\n', ' ');  // MPICH tells a stack of errors
            }
        }
    }
    return failure;
}

}  // namespace dlmb::mpi
