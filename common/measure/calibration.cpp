// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/calibration.hpp"

#include "common/base/error.hpp"
#include "common/measure/calibrate.hpp"

#include <algorithm>

namespace dlmb::measure {
namespace {

constexpr Nanoseconds ms = 1'000'000;
constexpr std::size_t full_link_nodes = 512;
constexpr std::size_t brief_link_nodes = 32;
constexpr CalibrationTimes full_times{1000 * ms, 300 * ms, 100 * ms, full_link_nodes};
constexpr Nanoseconds brief_quanta_most_ns = 60 * ms;
constexpr Nanoseconds brief_barriers_most_ns = 20 * ms;

std::size_t nodes_within(Nanoseconds limit_ns, std::size_t most) {
    return std::min(most, static_cast<std::size_t>(limit_ns / link_turn_ns));
}

}  // namespace

std::string_view name_of(Effort effort) {
    switch (effort) {
    case Effort::off:
        return "off";
    case Effort::brief:
        return "short";
    case Effort::full:
        return "full";
    }
    throw Error("effort out of range");
}

CalibrationTimes calibration_times(Effort effort, Nanoseconds patience_ns) {
    if (effort == Effort::off) {
        return {};
    }
    if (effort == Effort::full) {
        return {std::min(full_times.quanta_ns, patience_ns / 4), std::min(full_times.barriers_ns, patience_ns / 4),
                std::min(full_times.exchange_ns, patience_ns / 4), nodes_within(patience_ns / 4, full_link_nodes)};
    }
    return {std::min(brief_quanta_most_ns, patience_ns * 6 / 1000),
            std::min(brief_barriers_most_ns, patience_ns * 2 / 1000), 0,
            nodes_within(patience_ns * 2 / 1000, brief_link_nodes)};
}

}  // namespace dlmb::measure
