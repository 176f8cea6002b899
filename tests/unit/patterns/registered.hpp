// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The patterns of the build by name, and parameters with which they are quick.
#pragma once

#include "common/base/error.hpp"
#include "patterns/registry.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace dlmb {

inline PatternType const& type_named(std::string_view name) {
    auto const types = pattern_types();
    auto const found =
        std::find_if(types.begin(), types.end(), [&](PatternType const* each) { return each->name == name; });
    if (found == types.end()) {
        throw Error("no pattern " + std::string(name));
    }
    return **found;
}

/// Parameters that cost less time and change no shape; one size where the default is a range of them.
inline Parameters quick(std::string_view pattern) {
    if (pattern == "moe_alltoall") {
        return {{"tokens", "32"}};
    }
    if (pattern == "sparse_allreduce") {
        return {{"density", "0.0001"}};
    }
    return pattern == "collective" ? Parameters{{"message-size", "4096"}} : Parameters{};
}

}  // namespace dlmb
