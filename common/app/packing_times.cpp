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
    auto const found = [&](char const* name) {
        auto const statistic = cell.statistics.find(name);
        return statistic == cell.statistics.end() ? 0 : statistic->second;
    };
    if (cell.statistics.count("time_wire_us") == 0) {
        return "";
    }
    return fmt::format("# time_pack {:.3f} us ({:.2f} of copy bandwidth), time_wire {:.3f} us, time_unpack {:.3f} us "
                       "({:.2f})\n",
                       found("time_pack_us"), found("pack_of_copy"), found("time_wire_us"), found("time_unpack_us"),
                       found("unpack_of_copy"));
}

}  // namespace dlmb::app
