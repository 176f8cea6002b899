// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How structs become JSON and come back. The fields of a struct are listed once, by an overload of `fields`, which
// serves both directions:
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

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

class FieldWriter;
class FieldReader;

template <class Value>
[[nodiscard]] Json write_value(Value const& value, std::string_view field);
template <class Value>
void read_value(Json const& json, Value& value, std::string_view field);

/// Writes fields to an object. Throws Error for a number that is not finite.
class FieldWriter {
public:
    explicit FieldWriter(Json& object) : object_(object) {}

    template <class Value>
    void operator()(char const* name, Value const& value) {
        object_[name] = write_value(value, name);
    }
    /// Null (or `otherwise`) unless `condition`, which the fields before it decide.
    template <class Value>
    void where(bool condition, char const* name, Value const& value, Json otherwise = nullptr) {
        object_[name] = condition ? write_value(value, name) : std::move(otherwise);
    }
    /// Left out instead of null.
    template <class Value>
    void if_known(char const* name, std::optional<Value> const& value) {
        if (value) {
            object_[name] = write_value(*value, name);
        }
    }
    /// An object whose fields `list` names.
    template <class List>
    void object(char const* name, List list) {
        Json object = Json::object();
        FieldWriter inner(object);
        list(inner);
        object_[name] = std::move(object);
    }
    template <class List>
    void object_where(bool condition, char const* name, List list) {
        if (condition) {
            object(name, list);
        } else {
            object_[name] = nullptr;
        }
    }
    /// Objects whose fields `list` names.
    template <class Values, class List>
    void objects(char const* name, Values const& values, List list) {
        Json array = Json::array();
        for (auto const& value : values) {
            FieldWriter inner(array.emplace_back(Json::object()));
            list(inner, value);
        }
        object_[name] = std::move(array);
    }
    /// What follows from other fields: `make` is called to write it, and readers make it again.
    template <class Make>
    void derived(char const* name, Make make) {
        object_[name] = make();
    }
    void parameters(char const* name, std::map<std::string, std::string> const& values) {
        object_[name] = parameters_json(values);
    }
    void statistics(char const* name, std::map<std::string, double> const& values) {
        object_[name] = statistics_json(values);
    }

private:
    Json& object_;
};

/// The inverse. Throws nlohmann::json::exception or UsageError where a field is missing or of another type. Fields that
/// nobody names are passed over.
class FieldReader {
public:
    explicit FieldReader(Json const& object) : object_(object) {}

    template <class Value>
    void operator()(char const* name, Value& value) {
        read_value(object_.at(name), value, name);
    }
    template <class Value>
    void where(bool condition, char const* name, Value& value, Json const& /*otherwise*/ = nullptr) {
        if (condition) {
            read_value(object_.at(name), value, name);
        }
    }
    template <class Value>
    void if_known(char const* name, std::optional<Value>& value) {
        if (object_.contains(name)) {
            read_value(object_.at(name), value, name);
        }
    }
    template <class List>
    void object(char const* name, List list) {
        FieldReader inner(object_.at(name));
        list(inner);
    }
    template <class List>
    void object_where(bool condition, char const* name, List list) {
        if (condition) {
            object(name, list);
        }
    }
    template <class Values, class List>
    void objects(char const* name, Values& values, List list) {
        for (Json const& each : object_.at(name)) {
            FieldReader inner(each);
            list(inner, values.emplace_back());
        }
    }
    template <class Make>
    void derived(char const* /*name*/, Make const& /*make*/) {}
    void parameters(char const* name, std::map<std::string, std::string>& values) {
        for (auto const& [key, value] : object_.at(name).items()) {
            values.emplace(key, parameter_text(value));
        }
    }
    void statistics(char const* name, std::map<std::string, double>& values) { (*this)(name, values); }
    [[nodiscard]] Json const& json() const { return object_; }

private:
    Json const& object_;
};

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
    if constexpr (requires { values.clear(); }) {
        values.clear();
        for (Json const& each : json) {
            typename Value::value_type value{};
            read_value(each, value, field);
            values.push_back(std::move(value));
        }
    } else {
        for (std::size_t i = 0; i < values.size(); ++i) {
            read_value(json.at(i), values[i], field);
        }
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
    if constexpr (detail::Plain<Value> || std::floating_point<Value>) {
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

}  // namespace dlmb::record
