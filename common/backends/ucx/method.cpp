// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/method.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace dlmb::ucx {
namespace {

int read_number(MethodChoice const& choice, std::string_view knob, std::string_view text, int least) {
    int number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least) {
        throw UsageError(
            fmt::format("--method {}: {}={}: expected a whole number from {}", to_string(choice), knob, text, least));
    }
    return number;
}

/// UCX's name without "UCX_": rndv_thresh is RNDV_THRESH.
std::string setting_named(std::string_view knob) {
    std::string name(knob);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char each) { return std::toupper(each); });
    return name;
}

/// One text for one value, so that methods with equal settings share a context.
std::string read_threshold(std::string_view text, std::string const& what) {
    if (text == "inf") {
        return std::string(text);
    }
    try {
        return fmt::format("{}", parse_bytes(text, what));
    } catch (UsageError const& error) {
        throw UsageError(fmt::format("{}; or write inf", error.what()));
    }
}

WindowCopies read_window_copies(MethodChoice const& choice, std::string_view text) {
    for (WindowCopies const copies : {WindowCopies::cached, WindowCopies::streamed}) {
        if (text == name_of(copies)) {
            return copies;
        }
    }
    throw UsageError(
        fmt::format("--method {}: window_copies={}: expected cached or streamed", to_string(choice), text));
}

bool has_knob(std::string_view knobs, std::string const& knob) {
    return knobs.starts_with(knob + "=") || knobs.find(", " + knob + "=") != std::string_view::npos;
}

}  // namespace

void rotate_by_rank(LanePlan& lane) {
    auto const nearer = [](Transfer const& a, Transfer const& b) { return a.distance < b.distance; };
    std::stable_sort(lane.receives.begin(), lane.receives.end(), nearer);
    std::stable_sort(lane.sends.begin(), lane.sends.end(), nearer);
}

Knobs read_knobs(MethodChoice const& choice, MethodInfo const& info) {
    Knobs knobs;
    for (auto const& [knob, text] : choice.knobs) {
        if (!has_knob(info.knobs, knob)) {
            throw UsageError(fmt::format("--method {}: unknown knob '{}'; ucx {} has {}", to_string(choice), knob,
                                         info.name, info.knobs.empty() ? "none" : info.knobs));
        }
        if (knob == "max_outstanding") {
            knobs.max_outstanding = static_cast<std::size_t>(read_number(choice, knob, text, 1));
        } else if (knob == "radix") {
            knobs.algorithm.radix = read_number(choice, knob, text, 2);
        } else if (knob == "window_copies") {
            knobs.window_copies = read_window_copies(choice, text);
        } else if (knob == "messages_from") {
            std::string const bytes = read_threshold(text, fmt::format("--method {}: {}", to_string(choice), knob));
            knobs.messages_from = bytes == "inf" ? WindowUse::never : parse_bytes(bytes, knob);
        } else if (has_knob(context_knobs, knob)) {
            knobs.context[setting_named(knob)] =
                read_threshold(text, fmt::format("--method {}: {}", to_string(choice), knob));
        } else {
            knobs.algorithm.segment = parse_bytes(text, fmt::format("--method {}: {}", to_string(choice), knob));
            if (knobs.algorithm.segment == 0) {
                throw UsageError(
                    fmt::format("--method {}: {}=0: expected a size from 1, for example 64K", to_string(choice), knob));
            }
        }
    }
    return knobs;
}

}  // namespace dlmb::ucx
