// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/applicability_test.hpp"

#include "common/backends/mpi/compile_plan.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::mpi {
namespace {

/// The first failure's text; empty: all ran. Only for calls that fail on all members of a group or on none.
std::string run_once(Plan const& plan, std::span<PreparedCall const> calls, std::span<StepId const> steps) {
    std::string failure;
    for (StepId const step : collective_order(plan)) {
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
            continue;
        }
        try {
            calls[step].start_and_wait();
        } catch (CallFailed const& error) {
            if (failure.empty()) {
                failure = fmt::format("\"{}\": {}", plan.steps[step].label, error.summary());
                std::replace(failure.begin(), failure.end(), '\n', ' ');  // MPICH tells a stack of errors
            }
        }
    }
    return failure;
}

}  // namespace

std::string why_not_applicable(Plan const& plan, std::span<PreparedCall const> calls, AlgorithmChoice const& choice,
                               Algorithms& algorithms, Bootstrap& bootstrap) {
    std::vector<StepId> const steps = steps_by_algorithm(plan, choice);
    if (!any_rank(bootstrap, !steps.empty())) {
        return "mpi: algorithm: no step of this traffic makes a call that the method names";
    }
    algorithms.activate(choice, true);
    std::string const failure = run_once(plan, calls, steps);
    algorithms.release();
    std::string const first = first_refusal(bootstrap, failure);
    return first.empty() ? "" : fmt::format("mpi: the algorithm is not applicable to {}", first);
}

}  // namespace dlmb::mpi
