// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Models as data parallelism sees them: sizes of parameter tensors, in the order in which frameworks register them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::dp_gradients {

struct ParameterTensor {
    std::uint64_t elements = 0;
    std::uint32_t unit = 0;  // layer or block from 1 on, which FSDP gathers as a whole; 0: what belongs to none
};

struct Model {
    std::vector<ParameterTensor> tensors;
    std::uint64_t running_statistics = 0;  // fp32 values in buffers of batch norms
    std::uint64_t norm_counters = 0;       // int64 values there

    [[nodiscard]] std::uint64_t elements() const {
        std::uint64_t sum = 0;
        for (ParameterTensor const& tensor : tensors) {
            sum += tensor.elements;
        }
        return sum;
    }
};

struct GptShape {
    std::uint64_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t vocabulary = 50304;  // 50257, padded to a multiple of 128
};

/// layers * (12 hidden^2 + 13 hidden) + 2 hidden + 2 vocabulary * hidden elements.
[[nodiscard]] Model gpt(GptShape const& shape);

struct LlamaShape {
    std::uint64_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t key_values = 0;  // key-value heads times head dimension
    std::uint64_t mlp = 0;         // width of gate and up
    std::uint64_t vocabulary = 32000;
};

/// Embedding; per layer norm, q, k, v, o, norm, gate, up, down; final norm; head.
[[nodiscard]] Model llama(LlamaShape const& shape);

/// A unit is a bottleneck block. Convolutions have no bias; every one is followed by a batch norm.
[[nodiscard]] Model resnet_50();

[[nodiscard]] std::span<std::string_view const> model_names();

/// `name` is one of model_names().
[[nodiscard]] Model model_named(std::string_view name);

}  // namespace dlmb::dp_gradients
