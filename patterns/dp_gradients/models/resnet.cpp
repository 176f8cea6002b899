// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/models/resnet.hpp"

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

}  // namespace

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

}  // namespace dlmb::dp_gradients
