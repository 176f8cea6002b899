// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plans of the schemes. Labels: buffers.statistics, buffers.counters, gradients.BUCKET, overflow,
// parameters.BUCKET; parameters.forward.N, parameters.backward.N, parameters.persistent where every rank holds a part
// of each parameter.
#pragma once

#include "patterns/collective_queue.hpp"
#include "patterns/dp_gradients/params.hpp"

namespace dlmb::dp_gradients {

/// DDP, Megatron-LM's DDP and distributed optimizer, ZeRO-1 and -2: every rank holds all parameters.
/// Gradient buckets in the order in which a backward pass fills them; then, where the optimizer is sharded, the updated
/// parameters are gathered.
[[nodiscard]] Plan replicated_plan(Params const& params, WorldShape const& world, Rank me);

/// DeepSpeed, deepspeed/runtime/zero/stage3.py and partition_parameters.py: parameters are gathered tensor by tensor
/// (or coalesced up to the prefetch size), each padded to whole elements per rank, in both passes; gradients are
/// scattered in buckets of the ZeRO-1/2 rule.
[[nodiscard]] Plan zero3_plan(Params const& params, WorldShape const& world, Rank me);

/// PyTorch, torch/distributed/fsdp/_flat_param.py: one flat tensor per unit, padded to whole elements per rank. The
/// root unit (number 0: embedding, final norm, head) stays gathered until its backward.
[[nodiscard]] Plan fsdp_plan(Params const& params, WorldShape const& world, Rank me);

/// The collectives of the data-parallel group of `me`.
[[nodiscard]] CollectiveQueue queue_of(Params const& params, WorldShape const& world, Rank me);

}  // namespace dlmb::dp_gradients
