// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/predict/forced_algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace dlmb::predict {
namespace {

using Times = std::map<double, double>;            // us by bytes
using TimesByName = std::map<std::string, Times>;  // of one collective in one job

// The same code differs less than this from one run of a job to the next, but for some outliers.
constexpr double same_within = 1.03;
constexpr double share_of_same = 2.0 / 3;  // of the sizes
// Two implementations of the same messages differ less than this at most sizes.
constexpr double different_beyond = 1.5;
constexpr double share_of_different = 1.0 / 3;
constexpr int fewest_sizes = 5;

/// Of the sizes that both have, those whose ratio of times, the larger over the smaller, is as asked. 0: few sizes.
double share(Times const& times, Times const& others, std::function<bool(double)> const& asked) {
    int sizes = 0;
    int found = 0;
    for (auto const& [bytes, time] : times) {
        auto const other = others.find(bytes);
        if (other != others.end()) {
            ++sizes;
            found += asked(std::exp(std::abs(std::log(time / other->second)))) ? 1 : 0;
        }
    }
    return sizes < fewest_sizes ? 0 : static_cast<double>(found) / sizes;
}

bool have_same_messages(Collective collective, std::string_view name, std::string_view other) {
    auto const one = algorithm_of(collective, name);
    auto const two = algorithm_of(collective, other);
    return one && two && one->algorithm == two->algorithm && one->ports == two->ports;
}

bool ran_something_else(Collective collective, std::string const& name, TimesByName const& job) {
    auto const underscore = name.rfind('_');
    auto const decision = underscore == std::string::npos ? job.end() : job.find("default" + name.substr(underscore));
    if (decision == job.end()) {
        return false;
    }
    Times const& times = job.at(name);
    if (share(times, decision->second, [](double ratio) { return ratio < same_within; }) < share_of_same) {
        return false;
    }
    return std::any_of(job.begin(), job.end(), [&](auto const& other) {
        return other.first != name && have_same_messages(collective, name, other.first) &&
               share(times, other.second, [](double ratio) { return ratio > different_beyond; }) >= share_of_different;
    });
}

std::string job_of(Measurement const& measurement) {
    return fmt::format("{} {} {} {} {}", measurement.system, measurement.topology.text(),
                       measurement.topology.ranks_per_node, name_of(measurement.collective), measurement.job);
}

}  // namespace

std::vector<Measurement> measurements_to_fit(std::vector<TableLine> const& lines) {
    std::map<std::string, TimesByName> jobs;
    for (TableLine const& line : lines) {
        if (line.unusable.empty() || line.unusable == unknown_algorithm) {
            Measurement const& measurement = line.measurement;
            jobs[job_of(measurement)][measurement.algorithm][measurement.bytes] = measurement.time_us;
        }
    }
    std::vector<Measurement> found;
    for (TableLine const& line : lines) {
        Measurement const& measurement = line.measurement;
        if (line.unusable.empty() &&
            !ran_something_else(measurement.collective, measurement.algorithm, jobs.at(job_of(measurement)))) {
            found.push_back(measurement);
        }
    }
    return found;
}

}  // namespace dlmb::predict
