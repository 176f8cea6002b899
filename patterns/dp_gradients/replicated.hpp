// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Schemes in which every rank holds all parameters: DDP, Megatron-LM's DDP and distributed optimizer, ZeRO-1 and -2.
// Labels: buffers.statistics, buffers.counters, gradients.BUCKET, overflow, parameters.BUCKET.
#pragma once

#include "patterns/dp_gradients/params.hpp"

namespace dlmb::dp_gradients {

/// Gradient buckets in the order in which a backward pass fills them; then, where the optimizer is sharded, the updated
/// parameters are gathered.
[[nodiscard]] Plan replicated_plan(Params const& params, WorldShape const& world, Rank me);

}  // namespace dlmb::dp_gradients
