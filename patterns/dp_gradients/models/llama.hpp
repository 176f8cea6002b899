// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// LLaMA, Llama 2 and Llama 3: RMS norms, no biases, gated mlp, untied head (arXiv 2302.13971, 2307.09288, 2407.21783).
#pragma once

#include "patterns/dp_gradients/models/model.hpp"

namespace dlmb::dp_gradients {

struct LlamaShape {
    std::uint64_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t key_values = 0;  // key-value heads times head dimension
    std::uint64_t mlp = 0;         // width of gate and up
    std::uint64_t vocabulary = 32000;
};

/// Embedding; per layer norm, q, k, v, o, norm, gate, up, down; final norm; head.
[[nodiscard]] Model llama(LlamaShape const& shape);

}  // namespace dlmb::dp_gradients
