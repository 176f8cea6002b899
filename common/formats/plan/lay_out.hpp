// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Steps of one plan in another one: with places of their own, which is what transforms and readers of plans build with,
// or as they are.
#pragma once

#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlmb {

/// Whether the step packs or moves rows of a tensor. Where those lie is part of what it does, so it is not laid out.
[[nodiscard]] bool keeps_places(Operation const& operation);

/// Adds an operation whose group and peers are those of `plan`; where its bytes lie there does not matter. Throws
/// UsageError for a computation that converts numbers, because its rows are places in buffers of `plan`.
StepId lay_out(PlanBuilder& builder, Plan const& plan, Operation const& operation, std::string const& label,
               std::vector<StepId> const& after);

/// `steps`: ascending. A plan of the same groups and buffers, whose steps wait only for those among `steps`: whoever
/// runs several parts keeps the order between them.
[[nodiscard]] Plan part_of(Plan const& whole, std::span<StepId const> steps);

}  // namespace dlmb
