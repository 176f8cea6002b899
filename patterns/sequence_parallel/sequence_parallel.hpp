// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Attention over a sequence that is cut over ranks.
//
//   ulysses: each rank swaps its tokens' q, k, v for all tokens of its heads, attends, and swaps back
//   ring:    each rank keeps its queries; keys and values go round, one neighbour per step
//
// Presets, byte formulas and sources: README.md. Not here: Megatron's sequence parallelism of norms, which is a form
// of tensor parallelism (tp_allreduce); time, any communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::sequence_parallel {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::sequence_parallel
