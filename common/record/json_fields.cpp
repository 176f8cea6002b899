// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/json_fields.hpp"

#include <fmt/core.h>

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

Json finite(double value, std::string_view field) {
    if (!std::isfinite(value)) {
        throw Error(fmt::format("result field {} is not a finite number", field));
    }
    return value;
}

std::string compact(Json const& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Blob to_blob(Json const& value) {
    std::string const text = compact(value);
    auto const* first = reinterpret_cast<std::byte const*>(text.data());
    return {first, first + text.size()};
}

Json from_blob(Blob const& blob) {
    auto const* first = reinterpret_cast<char const*>(blob.data());
    return Json::parse(first, first + blob.size());
}

}  // namespace dlmb::record
