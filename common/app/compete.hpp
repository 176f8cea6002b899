// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The contest of one point: its entries compiled for the same traffic and buffers, run in turns and reported.
#pragma once

#include "common/app/candidates.hpp"

namespace dlmb::app {

/// Collective: compiles every entry, runs the contest and reports each cell.
void compete(LaunchContext& launch, Variant const& variant, measure::Contest const& contest,
             std::vector<Entry> const& entries);

}  // namespace dlmb::app
