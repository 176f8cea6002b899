// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/packing_times.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app {

void add_packing_times(record::Record& cell) {
    double wire_us = 0;
    bool packs = false;
    for (measure::PhaseResult const& timed : cell.result.phases) {
        auto const known = std::find_if(cell.phases.begin(), cell.phases.end(),
                                        [&](auto const& phase) { return phase.label == timed.label; });
        double const us = timed.time.median / nanoseconds_per_microsecond;
        if (known == cell.phases.end() || us <= 0) {
            continue;
        }
        if (known->plain_copy && (timed.label == "pack" || timed.label == "unpack")) {
            packs = true;
            cell.statistics[fmt::format("time_{}_us", timed.label)] = us;
            cell.statistics[fmt::format("{}_of_copy", timed.label)] = known->plain_copy->time_ns / timed.time.median;
        } else if (known->traffic.payload_bytes > 0) {
            wire_us += us;
        }
    }
    if (packs) {
        cell.statistics["time_wire_us"] = wire_us;
    }
}

std::string packing_line(record::Record const& cell) {
    auto const wire_us = cell.statistics.find("time_wire_us");
    if (wire_us == cell.statistics.end()) {
        return "";
    }
    auto const phase = [&](char const* name) -> std::string {
        auto const us = cell.statistics.find(fmt::format("time_{}_us", name));
        return us == cell.statistics.end()
                   ? ""
                   : fmt::format(", time_{} {:.3f} us ({:.2f} of copy bandwidth)", name, us->second,
                                 cell.statistics.at(fmt::format("{}_of_copy", name)));
    };
    return fmt::format("# time_wire {:.3f} us{}{}\n", wire_us->second, phase("pack"), phase("unpack"));
}

}  // namespace dlmb::app
