// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/method_params.hpp"

#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::tuning {
namespace {

constexpr std::pair<std::string_view, std::optional<std::uint64_t> ChoiceParams::*> number_knobs[] = {
    {"segment", &ChoiceParams::segment_bytes}, {"tree_fanout", &ChoiceParams::fanout},
    {"chain_fanout", &ChoiceParams::fanout},   {"max_requests", &ChoiceParams::max_requests},
    {"radix", &ChoiceParams::radix},           {"max_outstanding", &ChoiceParams::max_outstanding},
    {"channels", &ChoiceParams::channels}};

bool same_value(std::string const& one, std::string const& other) {
    try {
        return one == other || parse_bytes(one, "") == parse_bytes(other, "");
    } catch (UsageError const&) {
        return false;  // "inf", "auto"
    }
}

}  // namespace

std::uint64_t whole_number(std::string_view text, std::string_view what) {
    auto const number = parse_whole<std::uint64_t>(text);
    if (!number) {
        throw UsageError(fmt::format("{} '{}' is no whole number", what, text));
    }
    return *number;
}

ChoiceParams params_of(std::map<std::string, std::string, std::less<>> const& method_knobs) {
    ChoiceParams params;
    for (auto const& [knob, value] : method_knobs) {
        auto const number = std::find_if(std::begin(number_knobs), std::end(number_knobs),
                                         [&name = knob](auto const& each) { return each.first == name; });
        if (number != std::end(number_knobs)) {
            params.*number->second = knob == "segment" ? parse_bytes(value, knob) : whole_number(value, knob);
        } else if (knob == "protocol") {
            params.protocol = value;
        } else if (knob == "rndv_thresh") {  // of common/backends/ucx
            params.knobs.emplace("UCX_RNDV_THRESH", value);
        } else if (knob == "zcopy_thresh") {
            params.knobs.emplace("UCX_ZCOPY_THRESH", value);
        }
    }
    return params;
}

std::string contradiction(ChoiceParams const& one, ChoiceParams const& other) {
    for (auto const& [name, number] : number_params) {
        if (one.*number && other.*number && one.*number != other.*number) {
            return name;
        }
    }
    if (!one.protocol.empty() && !other.protocol.empty() && one.protocol != other.protocol) {
        return "protocol";
    }
    for (auto const& [variable, value] : one.knobs) {
        auto const found = other.knobs.find(variable);
        if (found != other.knobs.end() && !same_value(found->second, value)) {
            return variable;
        }
    }
    return {};
}

}  // namespace dlmb::tuning
