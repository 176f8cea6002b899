// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/json_parts.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace dlmb::record {

Json parameter_json(std::string const& value) {
    bool const plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char character) {
        return (character >= '0' && character <= '9') || character == '.' || character == '-';
    });
    if (plain) {
        Json number = Json::parse(value, nullptr, false);
        if (number.is_number() && number.dump() == value) {
            return number;
        }
    }
    return value;
}

std::string parameter_text(Json const& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

Json statistics_json(std::map<std::string, double> const& statistics) {
    Json object = Json::object();
    for (auto const& [name, value] : statistics) {
        if (std::isfinite(value)) {
            object[name] = value;
        }
    }
    return object;
}

Json world_json(WorldShape const& world) {
    return {{"ranks", world.ranks}, {"ranks_per_node", world.ranks_per_node}};
}

Json finite(double value, std::string_view field) {
    if (!std::isfinite(value)) {
        throw Error(fmt::format("result field {} is not a finite number", field));
    }
    return value;
}

Json finite_list(std::vector<double> const& values, std::string_view field) {
    Json list = Json::array();
    for (double const value : values) {
        list.push_back(finite(value, field));
    }
    return list;
}

std::string compact(Json const& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dlmb::record
