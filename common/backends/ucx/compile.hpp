// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan to a Schedule: chooses a way for each step, lowers it, matches sends with receives over all ranks,
// connects, and makes tasks.
#pragma once

#include "common/backends/ucx/method_table.hpp"
#include "common/backends/ucx/schedule.hpp"
#include "common/backends/ucx/transports.hpp"
#include "common/backends/ucx/window_trial.hpp"

namespace dlmb::ucx {

/// Collective. Unsupported and the Error for plans that do not match have the same text on all ranks.
[[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                           ChosenMethods const& methods,
                                                                           Transports& transports, WindowTrial& trial);

}  // namespace dlmb::ucx
