// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plan of each kind. Labels: Ulysses phase.tensor[.layer], tensor one of q, k, v, out; ring
// phase.kv|dkv|compute[.layer].
#pragma once

#include "patterns/sequence_parallel/params.hpp"

namespace dlmb::sequence_parallel {

/// Ulysses: all-to-all exchanges around attention (DeepSpeed, deepspeed/sequence/layer.py).
/// Forward per layer: q, k, v to head shares, out back to sequence shares. Backward the same tensors' gradients, in
/// reverse. One after the other, as the synchronous calls of DeepSpeed.
[[nodiscard]] Plan ulysses_plan(Params const& params, WorldShape const& world, Rank me);

/// Whether equal blocks lie packed, so that a backend may use its uniform all-to-all.
[[nodiscard]] bool ulysses_is_uniform(Params const& params);

/// Ring attention: keys and values travel round the ring while each rank computes with the ones it has
/// (ring-flash-attention, ring_flash_attn/ring_flash_attn.py). One step of the ring is a batch of four: send k, receive
/// k, send v, receive v; to the next rank, from the one before. Forward: ranks - 1 steps. Backward: ranks - 1 steps for
/// k and v and, on a second channel, ranks steps for dk and dv, whose last brings them home. A ring of one rank has no
/// steps.
[[nodiscard]] Plan ring_plan(Params const& params, WorldShape const& world, Rank me);

}  // namespace dlmb::sequence_parallel
