// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/predict/patterns.hpp"

#include "common/base/error.hpp"
#include "patterns/registry.hpp"

#include <vector>

namespace dlmb::app::predict {

PatternType const& pattern_named(std::string const& name) {
    std::vector<std::string> names;
    for (PatternType const* const type : pattern_types()) {
        if (type->name == name) {
            return *type;
        }
        names.emplace_back(type->name);
    }
    throw UsageError(unknown_name("pattern", name, names));
}

}  // namespace dlmb::app::predict
