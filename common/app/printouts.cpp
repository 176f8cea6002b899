// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/printouts.hpp"

#include "common/base/version.hpp"

#include <fmt/format.h>

namespace dlmb::app {

std::string version_text(std::string_view program) {
    BuildInfo const& build = build_info();
    return fmt::format("{} {} ({}, {}, {})\n", program, build.version, build.git_revision, build.compiler,
                       build.build_type);
}

std::string preset_table(PatternType const& type) {
    std::vector<Preset> const presets = presets_of(type);
    if (presets.empty()) {
        return fmt::format("dlmb_{} has no presets; --help lists its parameters\n", type.name);
    }
    std::string text;
    for (Preset const& preset : presets) {
        std::vector<std::string> values;
        for (auto const& [name, value] : preset.values) {
            values.push_back(fmt::format("{}={}", name, value));
        }
        text += fmt::format("{:<24} {}\n{:<24} source: {}\n", preset.name, fmt::join(values, " "), "", preset.source);
    }
    return text;
}

}  // namespace dlmb::app
