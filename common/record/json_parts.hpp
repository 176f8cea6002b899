// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pieces of JSON that result lines and the plan document share.
#pragma once

#include "common/base/error.hpp"
#include "common/plan/world.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::record {

using Json = nlohmann::ordered_json;  // fields stay in the order in which the schema explains them

/// A number when writing that number gives the same text again ("7168", "0.5"), else a string ("lognormal:0.3", "1e3").
[[nodiscard]] Json parameter_json(std::string const& value);
[[nodiscard]] std::string parameter_text(Json const& value);

template <class Map>
[[nodiscard]] Json parameters_json(Map const& parameters) {
    Json object = Json::object();
    for (auto const& [name, value] : parameters) {
        object[std::string{name}] = parameter_json(value);
    }
    return object;
}

/// Statistics that have no finite value for this traffic are left out.
[[nodiscard]] Json statistics_json(std::map<std::string, double> const& statistics);

[[nodiscard]] Json world_json(WorldShape const& world);

/// Throws Error naming `field` when the value is not finite: JSON has no such number.
[[nodiscard]] Json finite(double value, std::string_view field);

[[nodiscard]] Json finite_list(std::vector<double> const& values, std::string_view field);

inline constexpr auto by_name_of = [](auto value) { return name_of(value); };

/// The one of `values` whose name is `text`; throws UsageError that names `field` for another.
template <class Enum, std::size_t count, class Name = decltype(by_name_of)>
[[nodiscard]] Enum read_name(std::string_view field, Json const& text, std::array<Enum, count> const& values,
                             Name name = by_name_of) {
    auto const wanted = text.get<std::string>();
    auto const found = std::find_if(values.begin(), values.end(), [&](Enum value) { return name(value) == wanted; });
    if (found == values.end()) {
        throw UsageError(std::string(field) + ": unknown value '" + wanted + "'");
    }
    return *found;
}

/// One line; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string compact(Json const& value);

}  // namespace dlmb::record
