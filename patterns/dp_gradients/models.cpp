// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/models.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <array>
#include <variant>

namespace dlmb::dp_gradients {
namespace {

struct Stage {
    std::uint32_t blocks;
    std::uint64_t width;  // channels between the 1 x 1 convolutions; four times as many leave a block
};

constexpr Stage stages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
constexpr std::uint64_t classes = 1000;

class Registry {
public:
    void unit(std::uint32_t number) { unit_ = number; }

    void convolution(std::uint64_t in, std::uint64_t out, std::uint64_t kernel) {
        add(in * out * kernel * kernel);
        add(out);  // batch norm: weight
        add(out);  // and bias
        model.running_statistics += 2 * out;
        ++model.norm_counters;
    }

    void linear(std::uint64_t in, std::uint64_t out) {
        add(in * out);
        add(out);
    }

    Model model;

private:
    void add(std::uint64_t elements) { model.tensors.push_back({elements, unit_}); }

    std::uint32_t unit_ = 0;
};

struct GptShape {
    std::uint64_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t vocabulary = 50304;  // 50257, padded to a multiple of 128
};

/// GPT-NeoX: layer norms and linear layers with bias, rotary positions, untied head (EleutherAI/gpt-neox,
/// megatron/model/transformer.py and configs/): layers * (12 hidden^2 + 13 hidden) + 2 hidden + 2 vocabulary * hidden
/// elements.
Model make_model(GptShape const& shape) {
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

struct LlamaShape {
    std::uint64_t layers = 0;
    std::uint64_t hidden = 0;
    std::uint64_t key_values = 0;  // key-value heads times head dimension
    std::uint64_t mlp = 0;         // width of gate and up
    std::uint64_t vocabulary = 32000;
};

/// LLaMA, Llama 2 and Llama 3: RMS norms, no biases, gated mlp, untied head (arXiv 2302.13971, 2307.09288, 2407.21783).
/// Embedding; per layer norm, q, k, v, o, norm, gate, up, down; final norm; head.
Model make_model(LlamaShape const& shape) {
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

struct ResNet50 {};

/// ResNet-50 (arXiv 1512.03385, table 1) as torchvision registers it (torchvision/models/resnet.py). A unit is a
/// bottleneck block. Convolutions have no bias; every one is followed by a batch norm.
Model make_model(ResNet50 const& /*shape*/) {
    Registry registry;
    registry.convolution(3, 64, 7);
    std::uint64_t channels = 64;
    std::uint32_t unit = 0;
    for (Stage const& stage : stages) {
        for (std::uint32_t block = 0; block < stage.blocks; ++block) {
            registry.unit(++unit);
            registry.convolution(channels, stage.width, 1);
            registry.convolution(stage.width, stage.width, 3);
            registry.convolution(stage.width, 4 * stage.width, 1);
            if (block == 0) {
                registry.convolution(channels, 4 * stage.width, 1);  // downsample
            }
            channels = 4 * stage.width;
        }
    }
    registry.unit(0);
    registry.linear(channels, classes);
    return registry.model;
}

struct NamedModel {
    std::string_view name;
    std::variant<ResNet50, GptShape, LlamaShape> shape;
};

constexpr std::array models{
    NamedModel{"resnet-50", ResNet50{}},
    NamedModel{"gpt-19m", GptShape{6, 512}},
    NamedModel{"gpt-49m", GptShape{10, 640}},
    NamedModel{"gpt-125m", GptShape{12, 768}},
    NamedModel{"gpt-350m", GptShape{24, 1024}},
    NamedModel{"gpt-1.3b", GptShape{24, 2048}},
    NamedModel{"gpt-2.7b", GptShape{32, 2560}},
    NamedModel{"gpt-6.7b", GptShape{32, 4096}},
    NamedModel{"gpt-13b", GptShape{40, 5120}},
    NamedModel{"gpt-20b", GptShape{44, 6144}},
    NamedModel{"gpt-175b", GptShape{96, 12288}},
    NamedModel{"llama-7b", LlamaShape{32, 4096, 4096, 11008}},
    NamedModel{"llama-13b", LlamaShape{40, 5120, 5120, 13824}},
    NamedModel{"llama-70b", LlamaShape{80, 8192, 1024, 28672}},
    NamedModel{"llama3-8b", LlamaShape{32, 4096, 1024, 14336, 128256}},
    NamedModel{"llama3-70b", LlamaShape{80, 8192, 1024, 28672, 128256}},
};

constexpr auto names_of_models = [] {
    std::array<std::string_view, models.size()> all{};
    for (std::size_t i = 0; i < models.size(); ++i) {
        all.at(i) = models.at(i).name;
    }
    return all;
}();

}  // namespace

std::span<std::string_view const> model_names() {
    return names_of_models;
}

Model model_named(std::string_view name) {
    for (NamedModel const& model : models) {
        if (model.name == name) {
            return std::visit([](auto const& shape) { return make_model(shape); }, model.shape);
        }
    }
    throw Error(fmt::format("dp_gradients: no model '{}'", name));
}

}  // namespace dlmb::dp_gradients
