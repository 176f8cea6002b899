// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/record/environment.hpp"

#include "common/base/hash.hpp"

namespace dlmb::record {

std::string environment_key(std::map<std::string, std::string> const& identity) {
    std::string text;
    for (auto const& [name, value] : identity) {
        text.append(name).push_back('\0');
        text.append(value).push_back('\0');
    }
    return stable_hash(text);
}

bool on_test_double(Environment const& environment) {
    auto const gpus = environment.identity.find("gpus");
    return gpus != environment.identity.end() && gpus->second.find(test_double_prefix) != std::string::npos;
}

}  // namespace dlmb::record
