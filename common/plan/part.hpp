// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Some steps of a plan as a plan of their own.
#pragma once

#include "common/plan/plan.hpp"

#include <span>

namespace dlmb {

/// `steps`: ascending. A plan of the same groups and buffers, whose steps wait only for those among `steps`: whoever
/// runs several parts keeps the order between them.
[[nodiscard]] Plan part_of(Plan const& whole, std::span<StepId const> steps);

}  // namespace dlmb
