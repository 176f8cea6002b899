// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dp_gradients/models/models.hpp"

#include "common/base/error.hpp"
#include "patterns/dp_gradients/models/gpt.hpp"
#include "patterns/dp_gradients/models/llama.hpp"
#include "patterns/dp_gradients/models/resnet.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::dp_gradients {
namespace {

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
