// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/models/llama.hpp"

namespace dlmb::dp_gradients {

Model llama(LlamaShape const& shape) {
    std::uint64_t const h = shape.hidden;
    std::uint64_t const mlp = h * shape.mlp;
    Model model;
    model.tensors.push_back({shape.vocabulary * h, 0});
    for (std::uint32_t layer = 1; layer <= shape.layers; ++layer) {
        for (std::uint64_t const elements :
             {h, h * h, h * shape.key_values, h * shape.key_values, h * h, h, mlp, mlp, mlp}) {
            model.tensors.push_back({elements, layer});
        }
    }
    for (std::uint64_t const elements : {h, shape.vocabulary * h}) {
        model.tensors.push_back({elements, 0});
    }
    return model;
}

}  // namespace dlmb::dp_gradients
