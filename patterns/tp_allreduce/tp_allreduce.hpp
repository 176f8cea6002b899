// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tensor-parallel transformer layers: every layer ends twice in a sum over the ranks that share its matrices.
//
//   for each layer, for attention and mlp:
//     each rank multiplies by its columns, then by its rows of the weights      (no traffic)
//     the partial results are added on all ranks                                forward
//   backward the same, for the gradients of the inputs                          backward
//
// Presets, byte formulas and sources: README.md. Not here: point-to-point traffic between pipeline stages, gradients
// over data-parallel ranks, time, any communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::tp_allreduce {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::tp_allreduce
