// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/interference.hpp"

#include "common/base/units.hpp"
#include "patterns/beside.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::app {
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

}  // namespace dlmb::app
