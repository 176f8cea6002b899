// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/lines_to_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace dlmb::predict {
namespace {

using Times = std::map<double, double>;            // us by bytes
using TimesByName = std::map<std::string, Times>;  // of one collective in one job

// Both are judgements: how far two runs of the same code in a job are apart at most, and two implementations of the
// same messages, at most sizes.
constexpr double same_within = 1.03;
constexpr double different_beyond = 1.5;
constexpr int fewest_contradictions = 2;  // sizes: one may be an outlier

double ratio(double one, double other) {
    return std::max(one, other) / std::min(one, other);
}

bool have_same_messages(NamedAlgorithm one, NamedAlgorithm two) {
    return one.algorithm == two.algorithm && one.ports == two.ports;
}

/// Where all three take the same time.
std::vector<double> sizes_alike(Times const& times, Times const& second, Times const& third) {
    std::vector<double> sizes;
    for (auto const& [bytes, time] : times) {
        auto const at_second = second.find(bytes);
        auto const at_third = third.find(bytes);
        if (at_second != second.end() && at_third != third.end() && ratio(time, at_second->second) < same_within &&
            ratio(time, at_third->second) < same_within) {
            sizes.push_back(bytes);
        }
    }
    return sizes;
}

/// At two of the sizes or more, another implementation of the same messages takes other times.
bool is_contradicted(Collective collective, std::string const& name, std::vector<double> const& sizes,
                     TimesByName const& job) {
    auto const own = algorithm_of(collective, name);
    Times const& times = job.at(name);
    return std::any_of(job.begin(), job.end(), [&](auto const& other) {
        auto const algorithm = algorithm_of(collective, other.first);
        if (other.first == name || !own || !algorithm || !have_same_messages(*own, *algorithm)) {
            return false;
        }
        return std::count_if(sizes.begin(), sizes.end(), [&](double bytes) {
                   auto const found = other.second.find(bytes);
                   return found != other.second.end() && ratio(times.at(bytes), found->second) > different_beyond;
               }) >= fewest_contradictions;
    });
}

bool ran_something_else(Collective collective, std::string const& name, TimesByName const& job) {
    auto const underscore = name.rfind('_');
    std::string const library = underscore == std::string::npos ? std::string{} : name.substr(underscore);
    auto const decision = library.empty() ? job.end() : job.find("default" + library);
    auto const own = algorithm_of(collective, name);
    if (decision == job.end() || !own) {
        return false;
    }
    Times const& times = job.at(name);
    return std::any_of(job.begin(), job.end(), [&](auto const& other) {
        auto const algorithm = algorithm_of(collective, other.first);
        if (!other.first.ends_with(library) || !algorithm || have_same_messages(*own, *algorithm)) {
            return false;
        }
        auto const sizes = sizes_alike(times, decision->second, other.second);
        return 2 * sizes.size() > times.size() && is_contradicted(collective, name, sizes, job);
    });
}

std::string job_of(Measurement const& measurement) {
    return fmt::format("{} {} {} {} {}", measurement.system, measurement.topology.text(),
                       measurement.topology.ranks_per_node, name_of(measurement.collective), measurement.job);
}

}  // namespace

LinesToFit lines_to_fit(std::vector<TableLine> const& lines) {
    std::map<std::string, TimesByName> jobs;
    for (TableLine const& line : lines) {
        if (line.unusable.empty() || line.unusable == unknown_algorithm) {
            Measurement const& measurement = line.measurement;
            jobs[job_of(measurement)][measurement.algorithm][measurement.bytes] = measurement.time_us;
        }
    }
    LinesToFit found;
    for (TableLine const& line : lines) {
        Measurement const& measurement = line.measurement;
        if (!line.unusable.empty()) {
            continue;
        }
        if (ran_something_else(measurement.collective, measurement.algorithm, jobs.at(job_of(measurement)))) {
            ++found.left_out[{measurement.collective, measurement.algorithm}];
        } else {
            found.measurements.push_back(measurement);
        }
    }
    return found;
}

std::string describe(LineCounts const& left_out) {
    int lines = 0;
    std::string names;
    for (auto const& [key, count] : left_out) {
        lines += count;
        names += fmt::format("{}{} {} ({})", names.empty() ? "" : ", ", name_of(key.first), key.second, count);
    }
    return lines == 0 ? names
                      : fmt::format("{} lines were left out, for their times are hardly those of the algorithm: {}",
                                    lines, names);
}

}  // namespace dlmb::predict
