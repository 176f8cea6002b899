// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/overlap.hpp"

#include "common/base/units.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

double statistic(record::Cell const& cell, char const* name) {
    auto const found = cell.statistics.find(name);
    return found == cell.statistics.end() ? 0 : found->second;
}

}  // namespace

void add_overlap(record::Cell& cell) {
    double const compute_us = statistic(cell, "compute_us");
    if (cell.result.status != measure::Status::ok || !(compute_us > 0)) {
        return;
    }
    double const iteration_us = cell.result.time.median / nanoseconds_per_microsecond;
    cell.statistics["exposed_us"] = iteration_us - compute_us;
    cell.statistics["bubble_ratio"] = 1 - compute_us / iteration_us;
}

std::string overlap_line(record::Cell const& cell) {
    if (cell.statistics.count("exposed_us") == 0) {
        return "";
    }
    std::string text =
        fmt::format("# compute {:.3f} us, exposed {:.3f} us, bubble ratio {:.3f}", statistic(cell, "compute_us"),
                    statistic(cell, "exposed_us"), statistic(cell, "bubble_ratio"));
    if (cell.statistics.count("ideal_makespan_us") > 0) {
        text += fmt::format("; without communication makespan {:.3f} us, bubble ratio {:.3f}",
                            statistic(cell, "ideal_makespan_us"), statistic(cell, "ideal_bubble_ratio"));
    }
    return text + "\n";
}

}  // namespace dlmb::app
