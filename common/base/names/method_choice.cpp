// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/base/names/names.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb {

MethodChoice parse_method(std::string_view text) {
    MethodChoice method;
    std::size_t const name_end = text.find(':');
    method.name = text.substr(0, name_end);
    std::string_view rest = name_end == std::string_view::npos ? std::string_view{} : text.substr(name_end + 1);
    while (!rest.empty()) {
        std::string_view const knob = rest.substr(0, rest.find(':'));
        std::size_t const equals = knob.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == knob.size()) {
            throw UsageError(fmt::format(
                "--method '{}': expected NAME or NAME:KNOB=VALUE, for example pairwise:max_outstanding=4", text));
        }
        method.knobs.emplace(knob.substr(0, equals), knob.substr(equals + 1));
        rest.remove_prefix(std::min(rest.size(), knob.size() + 1));
    }
    if (method.name.empty()) {
        throw UsageError(fmt::format("--method '{}': the name is empty", text));
    }
    return method;
}

std::string to_string(MethodChoice const& method) {
    std::string text = method.name;
    for (auto const& [knob, value] : method.knobs) {
        text += fmt::format(":{}={}", knob, value);
    }
    return text;
}

}  // namespace dlmb
