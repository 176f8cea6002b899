// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Schemes in which every rank holds a part of each parameter: ZeRO-3 and FSDP. Labels: parameters.forward.N,
// parameters.backward.N, parameters.persistent, gradients.N, overflow.
#pragma once

#include "patterns/dp_gradients/params.hpp"

namespace dlmb::dp_gradients {

/// DeepSpeed, deepspeed/runtime/zero/stage3.py and partition_parameters.py: parameters are gathered tensor by tensor
/// (or coalesced up to the prefetch size), each padded to whole elements per rank, in both passes; gradients are
/// scattered in buckets of the ZeRO-1/2 rule.
[[nodiscard]] Plan zero3_plan(Params const& params, WorldShape const& world, Rank me);

/// PyTorch, torch/distributed/fsdp/_flat_param.py: one flat tensor per unit, padded to whole elements per rank. The
/// root unit (number 0: embedding, final norm, head) stays gathered until its backward.
[[nodiscard]] Plan fsdp_plan(Params const& params, WorldShape const& world, Rank me);

}  // namespace dlmb::dp_gradients
