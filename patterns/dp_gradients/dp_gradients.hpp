// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Data parallelism: every rank computes gradients of its own samples, and all must end with the same parameters.
//
//   ddp, megatron:  gradients are added in buckets while the backward pass still runs       gradients
//   zero1, zero2:   the same, then every rank updates a part and all parts are gathered     parameters
//   zero3, fsdp:    parameters are gathered layer by layer, forward and backward, and gradients scattered
//
// Presets, bucket rules and sources: README.md. Not here: the computation that hides this traffic, time, any
// communication library.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::dp_gradients {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::dp_gradients
