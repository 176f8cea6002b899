// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/method_params.hpp"

#include "common/base/error.hpp"
#include "common/base/parse_whole.hpp"

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <utility>

namespace dlmb::tuning {
namespace {

/// Of common/backends/ucx; empty: the knob is no setting of a library.
std::string_view variable_of(std::string_view knob) {
    if (knob == "rndv_thresh") {
        return "UCX_RNDV_THRESH";
    }
    return knob == "zcopy_thresh" ? "UCX_ZCOPY_THRESH" : "";
}

bool same_value(std::string const& one, std::string const& other) {
    if (one == other) {
        return true;
    }
    try {
        return parse_bytes(one, "") == parse_bytes(other, "");
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
        if (knob == "segment") {
            params.segment_bytes = parse_bytes(value, knob);
        } else if (knob == "tree_fanout" || knob == "chain_fanout") {
            params.fanout = whole_number(value, knob);
        } else if (knob == "max_requests") {
            params.max_requests = whole_number(value, knob);
        } else if (knob == "max_outstanding") {
            params.max_outstanding = whole_number(value, knob);
        } else if (knob == "radix") {
            params.radix = whole_number(value, knob);
        } else if (knob == "protocol") {
            params.protocol = value;
        } else if (knob == "channels") {
            params.channels = whole_number(value, knob);
        } else if (std::string_view const variable = variable_of(knob); !variable.empty()) {
            params.knobs.emplace(variable, value);
        }
    }
    return params;
}

std::string contradiction(ChoiceParams const& one, ChoiceParams const& other) {
    using Number = std::optional<std::uint64_t> ChoiceParams::*;
    constexpr std::pair<Number, char const*> numbers[] = {
        {&ChoiceParams::channels, "channels"}, {&ChoiceParams::segment_bytes, "segment_bytes"},
        {&ChoiceParams::fanout, "fanout"},     {&ChoiceParams::max_requests, "max_requests"},
        {&ChoiceParams::radix, "radix"},       {&ChoiceParams::max_outstanding, "max_outstanding"}};
    for (auto const& [number, name] : numbers) {
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
