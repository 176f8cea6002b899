// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Steps of one plan in another one, where they get places of their own: what transforms and readers of plans build
// with.
#pragma once

#include "common/plan/builder.hpp"
#include "common/plan/plan.hpp"

#include <string>
#include <vector>

namespace dlmb {

/// Adds an operation whose group and peers are those of `plan`; where its bytes lie there does not matter. Throws
/// UsageError for a computation that converts numbers, because its rows are places in buffers of `plan`.
StepId lay_out(PlanBuilder& builder, Plan const& plan, Operation const& operation, std::string const& label,
               std::vector<StepId> const& after);

}  // namespace dlmb
