// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/library_variables.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dlmb::tuning {
namespace {

using KnobAndVariable = std::pair<std::string_view, std::string_view>;
constexpr std::array<KnobAndVariable, 2> variables{{
    {"rndv_thresh", "UCX_RNDV_THRESH"},  // common/backends/ucx
    {"zcopy_thresh", "UCX_ZCOPY_THRESH"},
}};

}  // namespace

std::optional<std::string> variable_of(std::string_view knob) {
    auto const found = std::find_if(variables.begin(), variables.end(),
                                    [knob](KnobAndVariable const& each) { return each.first == knob; });
    return found == variables.end() ? std::nullopt : std::optional(std::string(found->second));
}

}  // namespace dlmb::tuning
