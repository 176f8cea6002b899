// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The lines of a result file as text, and back. Fields are those of results-schema/result.schema.json; numbers have a
// point in every locale. The fields of a struct are listed once, by an overload of `fields`, which serves both
// directions:
//
//     void fields(auto& io, Of<Straggler> auto& straggler) {
//         io("rank", straggler.rank);
//         io("share", straggler.share);
//     }
//
// The macros of nlohmann's library are not used: up to 3.11.2 they serve no ordered object, and they write null for a
// number that is not finite.
#pragma once

#include "common/base/error.hpp"
#include "common/bootstrap/bootstrap.hpp"
#include "common/plan/world.hpp"
#include "common/record/record.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// Throws Error naming `field` when the value is not finite: JSON has no such number.
[[nodiscard]] Json finite(double value, std::string_view field);

/// One line; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string compact(Json const& value);

/// For set-up messages between the ranks of one launch.
[[nodiscard]] Blob to_blob(Json const& value);
[[nodiscard]] Json from_blob(Blob const& blob);

/// `T` or `T const`: what a list of fields is written from, and read into.
template <class Value, class T>
concept Of = std::same_as<std::remove_const_t<Value>, T>;

/// The values of an enumeration that a file may hold; their names are name_of(value).
template <class Enum>
inline constexpr std::array<Enum, 0> every_value{};

template <class Value>
[[nodiscard]] Json write_value(Value const& value, std::string_view field);
template <class Value>
void read_value(Json const& json, Value& value, std::string_view field);

/// Writes fields to an object, or (`Object` is Json const) reads them from one. Writing throws Error for a number that
/// is not finite. Reading throws nlohmann::json::exception or UsageError where a field is missing or of another type;
/// fields that nobody names are passed over.
template <class Object>
class Fields {
public:
    static constexpr bool writes = !std::is_const_v<Object>;

    explicit Fields(Object& object) : object_(object) {}

    void operator()(char const* name, auto& value) { where(true, name, value); }
    /// Null (or `otherwise`) unless `condition`, which the fields before it decide.
    void where(bool condition, char const* name, auto& value, Json otherwise = nullptr) {
        if constexpr (writes) {
            object_[name] = condition ? write_value(value, name) : std::move(otherwise);
        } else if (condition) {
            read_value(object_.at(name), value, name);
        }
    }
    /// Left out instead of null.
    void if_known(char const* name, auto& value) {
        if (writes ? value.has_value() : object_.contains(name)) {
            (*this)(name, value);
        }
    }
    /// An object whose fields `list` names; null unless `condition`.
    void object(char const* name, auto const& list, bool condition = true) {
        if constexpr (writes) {
            object_[name] = condition ? Json::object() : Json(nullptr);
        }
        if (condition) {
            Fields inner(object_.at(name));
            list(inner);
        }
    }
    /// Objects whose fields `list` names.
    void objects(char const* name, auto& values, auto const& list) {
        if constexpr (writes) {
            Json& array = object_[name] = Json::array();
            for (auto const& value : values) {
                Fields inner(array.emplace_back(Json::object()));
                list(inner, value);
            }
        } else {
            for (Json const& each : object_.at(name)) {
                Fields inner(each);
                list(inner, values.emplace_back());
            }
        }
    }
    /// What follows from other fields: `make` is called to write it, and readers make it again.
    void derived(char const* name, auto const& make) {
        if constexpr (writes) {
            object_[name] = make();
        }
    }
    /// As parameter_json writes them.
    void parameters(char const* name, auto& values) {
        if constexpr (writes) {
            object_[name] = parameters_json(values);
        } else {
            for (auto const& [key, value] : object_.at(name).items()) {
                values.emplace(key, parameter_text(value));
            }
        }
    }
    /// As `make` writes it.
    void as(char const* name, auto& value, auto const& make) {
        if constexpr (writes) {
            object_[name] = make(value);
        } else {
            read_value(object_.at(name), value, name);
        }
    }
    [[nodiscard]] Object& json() const { return object_; }

private:
    Object& object_;
};
using FieldWriter = Fields<Json>;
using FieldReader = Fields<Json const>;

namespace detail {

template <class Value>
concept Plain = std::integral<Value> || std::same_as<Value, std::string> || std::same_as<Value, std::string_view>;
template <class Value>
concept Map = requires {
    typename Value::mapped_type;
};
template <class Value>
concept List = requires(Value value) {
    value.begin();
    typename Value::value_type;
}
&&!Map<Value> && !Plain<Value>;
template <class Value>
concept Optional = requires(Value value) {
    value.has_value();
};

/// A whole number, not cut or wrapped: nlohmann's own reading takes 1e300 and -1 as numbers of any type.
template <std::integral Number>
void read_whole(Json const& json, Number& value, std::string_view field) {
    bool const fits = json.is_number_unsigned()  ? std::in_range<Number>(json.get<std::uint64_t>())
                      : json.is_number_integer() ? std::in_range<Number>(json.get<std::int64_t>())
                                                 : false;
    if (!fits) {
        throw UsageError(std::string(field) + ": expected a whole number that can stand here");
    }
    value = json.get<Number>();
}

template <class Enum>
void read_name(Json const& json, Enum& value, std::string_view field) {
    auto const wanted = json.get<std::string>();
    auto const& all = every_value<Enum>;
    auto const found = std::find_if(all.begin(), all.end(), [&](Enum each) { return name_of(each) == wanted; });
    if (found == all.end()) {
        throw UsageError(std::string(field) + ": unknown value '" + wanted + "'");
    }
    value = *found;
}

template <class Value>
void read_list(Json const& json, Value& values, std::string_view field) {
    if constexpr (requires { values.resize(json.size()); }) {
        values.clear();
        values.resize(json.size());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        read_value(json.at(i), values[i], field);
    }
}

}  // namespace detail

template <class Value>
Json write_value(Value const& value, std::string_view field) {
    if constexpr (detail::Plain<Value>) {
        return value;
    } else if constexpr (std::floating_point<Value>) {
        return finite(value, field);
    } else if constexpr (std::is_enum_v<Value>) {
        return name_of(value);
    } else if constexpr (detail::Optional<Value>) {
        return value ? write_value(*value, field) : Json(nullptr);
    } else if constexpr (detail::Map<Value>) {
        Json object = Json::object();
        for (auto const& [key, each] : value) {
            object[key] = write_value(each, field);
        }
        return object;
    } else if constexpr (detail::List<Value>) {
        Json array = Json::array();
        for (auto const& each : value) {
            array.push_back(write_value(each, field));
        }
        return array;
    } else {
        Json object = Json::object();
        FieldWriter writer(object);
        fields(writer, value);
        return object;
    }
}

template <class Value>
void read_value(Json const& json, Value& value, std::string_view field) {
    if constexpr (std::integral<Value> && !std::same_as<Value, bool>) {
        detail::read_whole(json, value, field);
    } else if constexpr (std::floating_point<Value>) {
        if (!json.is_number()) {
            throw UsageError(std::string(field) + ": expected a number");
        }
        value = json.get<Value>();
    } else if constexpr (detail::Plain<Value>) {
        value = json.get<Value>();
    } else if constexpr (std::is_enum_v<Value>) {
        detail::read_name(json, value, field);
    } else if constexpr (detail::Optional<Value>) {
        value.reset();
        if (!json.is_null()) {
            typename Value::value_type inner{};
            read_value(json, inner, field);
            value = std::move(inner);
        }
    } else if constexpr (detail::Map<Value>) {
        for (auto const& [key, each] : json.items()) {
            read_value(each, value[key], field);
        }
    } else if constexpr (detail::List<Value>) {
        detail::read_list(json, value, field);
    } else {
        FieldReader reader(json);
        fields(reader, value);
    }
}

void fields(auto& io, Of<WorldShape> auto& world) {
    io("ranks", world.ranks);
    io("ranks_per_node", world.ranks_per_node);
}

/// One line without its newline. Throws Error naming the field if a number is not finite.
[[nodiscard]] std::string to_json_line(Launch const& launch);
[[nodiscard]] std::string to_json_line(std::string_view launch_id, Record const& cell);
[[nodiscard]] std::string to_json_line(End const& end);

/// Throw nlohmann::json::exception or UsageError when a field is missing or has the wrong type. Of a line with an
/// `origin` they read what such lines have (converted_launch and converted of the schema).
[[nodiscard]] Launch launch_from(Json const& line);
[[nodiscard]] Record record_from(Json const& line);
[[nodiscard]] End end_from(Json const& line);

void fields(auto& io, Of<RankDevice> auto& device) {
    io("index", device.index);
    io("pci_bus_id", device.pci_bus_id);
    io("numa_node", device.numa_node);
    io("other_numa_node", device.other_numa_node);
    io("reason", device.reason);
}

void fields(auto& io, Of<RankPlace> auto& place) {
    io("rank", place.rank);
    io("host", place.host);
    io("cpuset", place.cpuset);
    io("numa", place.numa);
    io("bound", place.bound);
    io.if_known("device", place.device);
}

/// Null without a calibration.
[[nodiscard]] Json calibration_json(std::optional<measure::Calibration> const& calibration);
[[nodiscard]] std::optional<measure::Calibration> calibration_from(Json const& value);

}  // namespace dlmb::record
