// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/overlap.hpp"

#include "common/base/units.hpp"

#include <fmt/format.h>

namespace dlmb::app {
namespace {

double statistic(record::Record const& cell, char const* name) {
    auto const found = cell.statistics.find(name);
    return found == cell.statistics.end() ? 0 : found->second;
}

/// What is the same with and without compute steps.
std::string communication_of(PatternType const& type, record::Record const& cell) {
    record::CellIdentity const& identity = cell.identity;
    std::string text = fmt::format("{} {} {} {}", identity.preset, identity.backend, identity.method, identity.memory);
    for (auto const& [name, value] : identity.parameters) {
        if (!sets_compute(type, name)) {
            text += fmt::format(" {}={}", name, value);
        }
    }
    return text;
}

}  // namespace

void Overlap::add(record::Record& cell) {
    double const iteration_us = cell.result.time.median / nanoseconds_per_microsecond;
    if (cell.result.status != measure::Status::ok || !(iteration_us > 0)) {
        return;
    }
    double const compute_us = statistic(cell, "compute_us");
    if (!(compute_us > 0)) {
        communication_us_[communication_of(type_, cell)] = iteration_us;
        return;
    }
    cell.statistics["exposed_us"] = iteration_us - compute_us;
    cell.statistics["bubble_ratio"] = 1 - compute_us / iteration_us;
    if (auto const alone = communication_us_.find(communication_of(type_, cell)); alone != communication_us_.end()) {
        double const makespan_us = statistic(cell, "ideal_makespan_us");
        double const without_communication_us = makespan_us > 0 ? makespan_us : compute_us;
        cell.statistics["communication_us"] = alone->second;
        cell.statistics["overlap_ratio"] = 1 - (iteration_us - without_communication_us) / alone->second;
    }
}

double Overlap::communication_us(record::Record const& cell) const {
    auto const alone = communication_us_.find(communication_of(type_, cell));
    return alone == communication_us_.end() ? 0 : alone->second;
}

std::string overlap_line(record::Record const& cell) {
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
    if (cell.statistics.count("overlap_ratio") > 0) {
        text += fmt::format("; communication alone {:.3f} us, overlap ratio {:.3f}",
                            statistic(cell, "communication_us"), statistic(cell, "overlap_ratio"));
    }
    return text + "\n";
}

}  // namespace dlmb::app
