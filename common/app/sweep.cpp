// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/sweep.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

using Lists = std::map<std::string, std::vector<std::string>, std::less<>>;

/// All combinations of one value per list.
std::vector<Parameters> combinations(Lists const& lists) {
    std::vector<Parameters> found{{}};
    for (auto const& [name, values] : lists) {
        std::vector<Parameters> longer;
        for (Parameters const& chosen : found) {
            for (std::string const& value : values) {
                longer.push_back(chosen);
                longer.back()[name] = value;
            }
        }
        found = std::move(longer);
    }
    return found;
}

std::string title(std::string_view preset, Parameters const& overrides) {
    std::vector<std::string> words;
    if (!preset.empty()) {
        words.emplace_back(preset);
    }
    for (auto const& [name, value] : overrides) {
        words.push_back(fmt::format("{}={}", name, value));
    }
    return words.empty() ? "defaults" : fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::vector<Variant> expand_sweep(PatternType const& type, Options const& options) {
    std::vector<std::string> const presets = options.presets.empty() ? std::vector<std::string>{""} : options.presets;
    std::vector<Variant> variants;
    for (std::string const& preset : presets) {
        for (Parameters const& overrides : combinations(options.parameters)) {
            variants.push_back(
                {preset, resolve(type, preset, overrides), resolve(type, preset, {}), title(preset, overrides)});
        }
    }
    return variants;
}

}  // namespace dlmb::app
