// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether ranks are alike up to their number. Of a ring, or of an exchange of equal blocks, the program of rank r + q
// is that of rank r with all peers moved on by q, where every domain of the machine begins at a multiple of q. Then
// both take the same time, and q ranks stand for all: an allreduce by a ring of 16,384 ranks has 5 * 10^8 messages.
#pragma once

#include "common/plan/plan_source.hpp"
#include "common/predict/simulator/lower.hpp"

namespace dlmb::predict {

/// How many ranks stand for all; that of the plans where ranks differ. `domain`: ranks of the largest domain of the
/// machine. Asks for each plan once.
[[nodiscard]] int period_of(PlanSource const& plans, LoweringChoice const& choice, int domain);

}  // namespace dlmb::predict
