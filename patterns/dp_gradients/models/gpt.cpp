// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/models/gpt.hpp"

namespace dlmb::dp_gradients {

Model gpt(GptShape const& shape) {
    std::uint64_t const h = shape.hidden;
    Model model;
    model.tensors.push_back({shape.vocabulary * h, 0});
    for (std::uint32_t layer = 1; layer <= shape.layers; ++layer) {
        for (std::uint64_t const elements : {h, h,              // input norm: weight, bias
                                             3 * h * h, 3 * h,  // query, key and value
                                             h * h, h,          // attention output
                                             h, h,              // norm before the mlp
                                             4 * h * h, 4 * h, 4 * h * h, h}) {
            model.tensors.push_back({elements, layer});
        }
    }
    for (std::uint64_t const elements : {h, h, shape.vocabulary * h}) {
        model.tensors.push_back({elements, 0});
    }
    return model;
}

}  // namespace dlmb::dp_gradients
