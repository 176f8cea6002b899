// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Files of presets.
#include "patterns/collective/collective.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/targets.hpp"

namespace dlmb::fuzz {

void preset_file(std::string_view input) {
    PatternType type = collective::type();
    type.presets_json = input;
    (void)accepts([&] {
        for (Preset const& preset : presets_of(type)) {
            require(resolve(type, preset.name, {}).size() == type.parameters.size(), "not every parameter has a value");
        }
    });
}

}  // namespace dlmb::fuzz
