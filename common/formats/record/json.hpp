// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as text, and back. Fields are those of results-schema/result.schema.json; numbers have a
// point in every locale.
#pragma once

#include "common/formats/json/fields.hpp"
#include "common/formats/plan/world.hpp"
#include "common/formats/record/record.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::record {

using json::Json;

/// The format of common/formats/json/fields.hpp. Readers pass over fields that they do not know.
struct ResultLine {
    static constexpr std::string_view document = "the line";
    template <class Struct>
    static constexpr bool strict = false;
};
using FieldWriter = json::Fields<Json, ResultLine>;
using FieldReader = json::Fields<Json const, ResultLine>;

/// `name`: of the value, for messages about all of it.
template <class Value>
[[nodiscard]] Json write_value(Value const& value, std::string_view name) {
    return json::write_at<ResultLine>(value, json::Place(name));
}
template <class Value>
void read_value(Json const& from, Value& value, std::string_view name) {
    json::read_at<ResultLine>(from, value, json::Place(name), false);
}

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

/// One line; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string compact(Json const& value);

/// For set-up messages between the ranks of one launch.
[[nodiscard]] std::vector<std::byte> to_blob(Json const& value);
[[nodiscard]] Json from_blob(std::vector<std::byte> const& blob);

void fields(auto& io, json::Of<WorldShape> auto& world) {
    io("ranks", world.ranks);
    io("ranks_per_node", world.ranks_per_node);
}

/// One line without its newline. Throws Error naming the field if a number is not finite.
[[nodiscard]] std::string to_json_line(Launch const& launch);
[[nodiscard]] std::string to_json_line(std::string_view launch_id, Record const& cell);
[[nodiscard]] std::string to_json_line(Derived const& derived);
[[nodiscard]] std::string to_json_line(End const& end);

/// Throw nlohmann::json::exception or UsageError when a field is missing or has the wrong type. Of a line with an
/// `origin` they read what such lines have (converted_launch and converted of the schema).
[[nodiscard]] Launch launch_from(Json const& line);
[[nodiscard]] Record record_from(Json const& line);
[[nodiscard]] Derived derived_from(Json const& line);
[[nodiscard]] End end_from(Json const& line);

void fields(auto& io, json::Of<RankDevice> auto& device) {
    io("index", device.index);
    io("pci_bus_id", device.pci_bus_id);
    io("numa_node", device.numa_node);
    io("other_numa_node", device.other_numa_node);
    io("reason", device.reason);
}

void fields(auto& io, json::Of<RankPlace> auto& place) {
    io("rank", place.rank);
    io("host", place.host);
    io("cpuset", place.cpuset);
    io("numa", place.numa);
    io("bound", place.bound);
    io.if_known("node", place.node);
    io.if_known("device", place.device);
}

/// Null without a calibration.
[[nodiscard]] Json calibration_json(std::optional<Calibration> const& calibration);

}  // namespace dlmb::record
