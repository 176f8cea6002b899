// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How each step of a plan is done where that depends on what a trial finds on this machine.
#pragma once

#include "common/backends/ucx/step_way.hpp"
#include "common/backends/ucx/transports.hpp"
#include "common/backends/ucx/window_trial.hpp"

namespace dlmb::ucx {

struct ChosenWays {
    std::vector<StepWay> by_step;
    Provenance record;  // from where on blocks are messages, if that matters to this plan
};

/// Collective. For a plan in `transport`, one of `transports`. Where the user leaves open what windows are used for and
/// a step has large copies, the trial decides. Unsupported alike on all ranks.
[[nodiscard]] Expected<ChosenWays, Unsupported> choose_ways(Plan const& plan, Buffers const& buffers,
                                                            ChosenMethods const& methods, Transports& transports,
                                                            Transport& transport, WindowTrial& trial);

}  // namespace dlmb::ucx
