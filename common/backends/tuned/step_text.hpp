// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// For the record: what was chosen for each step, and by which rule.
#pragma once

#include "common/backend_kit/chooser.hpp"

#include <span>

namespace dlmb::tuned {

/// "0-1:ucx/ring:r003 2:mpi/default:none 3-4:compute": steps in plan order, those of one choice and rule together.
[[nodiscard]] std::string step_text(Plan const& plan, std::span<StepChoice const> choices);

}  // namespace dlmb::tuned
