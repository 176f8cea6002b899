// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/models.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <array>

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

struct Named {
    std::string_view name;
    Model (*make)();
};

constexpr std::array named{
    Named{"resnet-50", resnet_50},
    Named{"gpt-19m",
          [] {
              return gpt({6, 512});
          }},
    Named{"gpt-49m",
          [] {
              return gpt({10, 640});
          }},
    Named{"gpt-125m",
          [] {
              return gpt({12, 768});
          }},
    Named{"gpt-350m",
          [] {
              return gpt({24, 1024});
          }},
    Named{"gpt-1.3b",
          [] {
              return gpt({24, 2048});
          }},
    Named{"gpt-2.7b",
          [] {
              return gpt({32, 2560});
          }},
    Named{"gpt-6.7b",
          [] {
              return gpt({32, 4096});
          }},
    Named{"gpt-13b",
          [] {
              return gpt({40, 5120});
          }},
    Named{"gpt-20b",
          [] {
              return gpt({44, 6144});
          }},
    Named{"gpt-175b",
          [] {
              return gpt({96, 12288});
          }},
    Named{"llama-7b",
          [] {
              return llama({32, 4096, 4096, 11008});
          }},
    Named{"llama-13b",
          [] {
              return llama({40, 5120, 5120, 13824});
          }},
    Named{"llama-70b",
          [] {
              return llama({80, 8192, 1024, 28672});
          }},
    Named{"llama3-8b",
          [] {
              return llama({32, 4096, 1024, 14336, 128256});
          }},
    Named{"llama3-70b",
          [] {
              return llama({80, 8192, 1024, 28672, 128256});
          }},
};

constexpr auto names = [] {
    std::array<std::string_view, named.size()> all{};
    for (std::size_t i = 0; i < named.size(); ++i) {
        all.at(i) = named.at(i).name;
    }
    return all;
}();

}  // namespace

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

Model resnet_50() {
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

std::span<std::string_view const> model_names() {
    return names;
}

Model model_named(std::string_view name) {
    for (Named const& entry : named) {
        if (entry.name == name) {
            return entry.make();
        }
    }
    throw Error(fmt::format("dp_gradients: no model '{}'", name));
}

}  // namespace dlmb::dp_gradients
