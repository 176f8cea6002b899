// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ulysses: all-to-all exchanges around attention (DeepSpeed, deepspeed/sequence/layer.py). Labels:
// phase.tensor[.layer], tensor one of q, k, v, out.
#pragma once

#include "patterns/sequence_parallel/params.hpp"

namespace dlmb::sequence_parallel {

/// Forward per layer: q, k, v to head shares, out back to sequence shares. Backward the same tensors' gradients, in
/// reverse. One after the other, as the synchronous calls of DeepSpeed.
[[nodiscard]] Plan ulysses_plan(Params const& params, WorldShape const& world, Rank me);

/// Whether equal blocks lie packed, so that a backend may use its uniform all-to-all.
[[nodiscard]] bool ulysses_is_uniform(Params const& params);

}  // namespace dlmb::sequence_parallel
