// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/method.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace dlmb::ucx {

void rotate_by_rank(LanePlan& lane) {
    auto const nearer = [](Transfer const& a, Transfer const& b) { return a.distance < b.distance; };
    std::stable_sort(lane.receives.begin(), lane.receives.end(), nearer);
    std::stable_sort(lane.sends.begin(), lane.sends.end(), nearer);
}

std::optional<std::size_t> max_outstanding_of(MethodChoice const& choice) {
    std::optional<std::size_t> found;
    for (auto const& [knob, text] : choice.knobs) {
        if (knob != "max_outstanding") {
            throw UsageError(
                fmt::format("ucx method {}: unknown knob '{}'; it has max_outstanding=N", choice.name, knob));
        }
        std::size_t number = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
            throw UsageError(
                fmt::format("ucx method {}: max_outstanding={}: expected a number from 1", choice.name, text));
        }
        found = number;
    }
    return found;
}

}  // namespace dlmb::ucx
