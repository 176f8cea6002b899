// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pipeline-parallel training: ranks hold consecutive layers, micro-batches pass through them and their gradients come
// back.
//
//   for each action of this rank's schedule:
//     receive the activation from the previous stage, the gradient from the next      forward, backward
//     compute                                                                          compute (optional)
//     send the result on
//   sum what several ranks hold                                      gradient_sync, tied_embedding
//
// Schedules, modes, byte formulas and sources: README.md. Not here: tensor parallelism inside a stage, data-parallel
// gradients.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::pipeline_p2p {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::pipeline_p2p
