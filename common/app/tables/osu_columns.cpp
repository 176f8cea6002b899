// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/tables/osu_columns.hpp"

#include "common/base/units.hpp"
#include "patterns/pattern.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app {

std::optional<OsuColumns> osu_columns(record::Record const& cell, Bytes message_size) {
    auto const statistic = [&](char const* name) {
        auto const found = cell.statistics.find(name);
        return found == cell.statistics.end() ? 0 : found->second;
    };
    double const mean_ns = cell.result.rank_means ? cell.result.rank_means->mean : cell.result.time.mean;
    double const overall_us = mean_ns / nanoseconds_per_microsecond;
    double const compute_us = statistic("compute_us");
    double const communication_us = statistic("communication_us");
    if (communication_us > 0) {
        double const overlap = std::max(0.0, 1 - (overall_us - compute_us) / communication_us);
        return OsuColumns{fmt::format("{:<10}{:>20}{:>20}{:>20}{:>20}\n", "# Size", "Overall(us)", "Compute(us)",
                                      "Pure Comm.(us)", "Overlap(%)"),
                          fmt::format("{:<10}{:>20.2f}{:>20.2f}{:>20.2f}{:>20.2f}", message_size, overall_us,
                                      compute_us, communication_us, 100 * overlap)};
    }
    double const messages = statistic(window_messages);
    if (!(messages > 0) || compute_us > 0 || !(overall_us > 0)) {
        return std::nullopt;
    }
    double const per_us = messages / overall_us;
    double const mb_per_s = per_us * static_cast<double>(message_size);  // a byte per us is 10^6 per s
    auto const operation = cell.identity.parameters.find("operation");
    if (operation == cell.identity.parameters.end() || operation->second != "message_rate") {
        return OsuColumns{fmt::format("{:<10}{:>20}\n", "# Size", "Bandwidth (MB/s)"),
                          fmt::format("{:<10}{:>20.2f}", message_size, mb_per_s)};
    }
    return OsuColumns{fmt::format("{:<10}{:>20}{:>20}\n", "# Size", "MB/s", "Messages/s"),
                      fmt::format("{:<10}{:>20.2f}{:>20.2f}", message_size, mb_per_s, 1e6 * per_us)};
}

}  // namespace dlmb::app
