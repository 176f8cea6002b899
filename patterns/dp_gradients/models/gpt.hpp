// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// GPT-NeoX: layer norms and linear layers with bias, rotary positions, untied head (EleutherAI/gpt-neox,
// megatron/model/transformer.py and configs/).
#pragma once

#include "patterns/dp_gradients/models/model.hpp"

namespace dlmb::dp_gradients {

struct GptShape {
    std::uint64_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t vocabulary = 50304;  // 50257, padded to a multiple of 128
};

/// layers * (12 hidden^2 + 13 hidden) + 2 hidden + 2 vocabulary * hidden elements.
[[nodiscard]] Model gpt(GptShape const& shape);

}  // namespace dlmb::dp_gradients
