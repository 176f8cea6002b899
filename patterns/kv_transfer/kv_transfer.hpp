// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Disaggregated inference: the KV cache of a prompt moves from the ranks that read it (prefill) to those that write the
// answer (decode).
//
//   for each layer, or all layers at once:
//     compute                                                        compute (optional)
//     send the blocks of each KV head to the decode ranks with it    first_layer, layers; request
//
// Presets, byte formulas and sources: README.md. Not here: decoding itself.
#pragma once

#include "patterns/pattern.hpp"

namespace dlmb::kv_transfer {

[[nodiscard]] PatternType const& type();

}  // namespace dlmb::kv_transfer
