// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Weights of a model on their way from one division over ranks to another one: from the trainer of reinforcement
// learning to the ranks that generate, or from a checkpoint to other ranks than those that wrote it.
//
//   p2p        every receiver gets what it lacks from one rank that holds it
//   striped    all ranks that hold it send a stripe each
//   bucketed   as p2p, in messages of limited size
//   broadcast  the owner of a bucket broadcasts it to all that need a part of it
//
// Presets, byte formulas and sources: README.md. Not here: other elements at the receivers, biases, optimizer states;
// time, any communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::reshard {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::reshard
