// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether an algorithm of the library can do the calls of a plan is only known to the library, when it is called.
#pragma once

#include "common/backends/mpi/algorithm_choice.hpp"
#include "common/backends/mpi/task.hpp"
#include "common/plan/plan.hpp"

#include <span>
#include <string>

namespace dlmb::mpi {

/// Collective: runs the tasks of these steps once, group by group, whatever is in their buffers. The first failure's
/// text; empty: all ran. Only for calls that fail on all members of a group or on none.
[[nodiscard]] std::string rehearse(Plan const& plan, std::span<Task> tasks, std::span<StepId const> steps);

}  // namespace dlmb::mpi
