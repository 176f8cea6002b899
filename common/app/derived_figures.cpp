// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/derived_figures.hpp"

#include "common/base/units.hpp"
#include "patterns/beside.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

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

namespace {

double median_us(record::Record const& cell) {
    return cell.result.status == measure::Status::ok ? cell.result.time.median / nanoseconds_per_microsecond : 0;
}

/// All of a cell's traffic with this value of the parameter, on this backend.
std::string key_of(record::Record const& cell, std::string const& beside, std::string_view backend) {
    record::CellIdentity const& identity = cell.identity;
    std::string text = fmt::format("{} {} {}", backend, identity.preset, identity.memory);
    for (auto const& [name, value] : identity.parameters) {
        text += fmt::format(" {}={}", name, name == beside_parameter.name ? beside : value);
    }
    return text;
}

std::string beside_value(record::Record const& cell) {
    auto const found = cell.identity.parameters.find(std::string(beside_parameter.name));
    return found == cell.identity.parameters.end() ? std::string(beside_parameter.value) : found->second;
}

}  // namespace

void Interference::add_alone(record::Record const& cell) {
    if (double const us = median_us(cell); us > 0) {
        Alone& alone = alone_[key_of(cell, beside_value(cell), cell.identity.backend)];
        alone.us[cell.identity.method] = us;
        if (cell.is_default) {
            alone.standard = cell.identity.method;
        }
    }
}

double Interference::alone_us(std::string const& key, std::string const& method) const {
    auto const found = alone_.find(key);
    if (found == alone_.end()) {
        return 0;
    }
    Alone const& alone = found->second;
    auto const same = alone.us.find(method);
    auto const standard = alone.us.find(alone.standard);
    return same != alone.us.end() ? same->second : standard != alone.us.end() ? standard->second : 0;
}

double Interference::alone_us(std::string const& key) const {
    auto const found = alone_.find(key);
    return found == alone_.end() || found->second.us.size() != 1 ? 0 : found->second.us.begin()->second;
}

void Interference::complete(record::Record& together) const {
    std::string const& backend = together.identity.backend;
    std::size_t const plus = backend.find('+');
    bool const pair = plus != std::string::npos;
    std::string const second = pair ? backend.substr(plus + 1, backend.find('/', plus) - plus - 1) : backend;
    std::string const& method = together.identity.method;
    double const main =
        alone_us(key_of(together, std::string(beside_parameter.value), backend.substr(0, plus)), method);
    std::string const key_beside = key_of(together, beside_alone(beside_value(together)), second);
    double const beside = pair ? alone_us(key_beside) : alone_us(key_beside, method);  // a pair's has one method
    double const us = median_us(together);
    if (!(main > 0) || !(beside > 0) || !(us > 0)) {
        return;
    }
    together.statistics["main_alone_us"] = main;
    together.statistics["beside_alone_us"] = beside;
    together.statistics["interference"] = us / std::max(main, beside);
    together.statistics["overlap_share"] = (main + beside - us) / std::min(main, beside);
}

std::string interference_line(record::Record const& cell) {
    auto const found = cell.statistics.find("interference");
    if (found == cell.statistics.end()) {
        return "";
    }
    return fmt::format("# alone {:.3f} us, beside alone {:.3f} us: interference {:.3f}, overlap share {:.3f}\n",
                       cell.statistics.at("main_alone_us"), cell.statistics.at("beside_alone_us"), found->second,
                       cell.statistics.at("overlap_share"));
}

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
