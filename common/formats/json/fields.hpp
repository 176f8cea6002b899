// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Structs as JSON and back. The fields of a struct are listed once, by an overload of `fields` in the namespace of a
// format, which serves both directions:
//
//     void fields(auto& io, json::Of<Straggler> auto& straggler) {
//         io("rank", straggler.rank);
//         io("share", straggler.share);
//     }
//
// A format is a struct that says what its documents are called in messages, and of which structs unknown fields are
// refused whatever the reader was told:
//
//     struct ResultLine {
//         static constexpr std::string_view document = "the line";
//         template <class Struct>
//         static constexpr bool strict = false;
//     };
//
// The macros of nlohmann's library are not used: up to 3.11.2 they serve no ordered object, they write null for a
// number that is not finite, and they do not say where in a document something is wrong.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlmb::json {

using Json = nlohmann::ordered_json;  // fields stay in the order in which the schema explains them

/// Where something stands in a document: "rules[3].when.bytes". Made on the way down, and read by who refuses it only.
class Place {
public:
    explicit constexpr Place(std::string_view document) : name_(document) {}
    constexpr Place(Place const& above, std::string_view field) : above_(&above), name_(field) {}
    constexpr Place(Place const& above, std::size_t index) : above_(&above), index_(index) {}
    /// The document's own name where it is all of it.
    [[nodiscard]] std::string text() const;

private:
    Place const* above_ = nullptr;
    std::string_view name_;
    std::optional<std::size_t> index_;  // of an element of a list
};

/// Throws UsageError "PLACE: WHY".
[[noreturn]] void refuse(Place const& place, std::string_view why);

/// Throws Error naming the place when the value is not finite: JSON has no such number.
[[nodiscard]] Json finite(double value, Place const& place);

/// `T` or `T const`: what a list of fields is written from, and read into.
template <class Value, class T>
concept Of = std::same_as<std::remove_const_t<Value>, T>;

/// The values of an enumeration that a document may hold; their names are name_of(value).
template <class Enum>
inline constexpr std::array<Enum, 0> every_value{};

template <class Format, class Value>
[[nodiscard]] Json write_at(Value const& value, Place const& place);
template <class Format, class Value>
void read_at(Json const& json, Value& value, Place const& place, bool strict);

namespace detail {

[[noreturn]] void refuse_word(Place const& place, std::string_view word, std::vector<std::string_view> const& known);
[[noreturn]] void refuse_field(Place const& place, std::string_view field, std::vector<std::string_view> const& known);
[[noreturn]] void refuse_number(Place const& place, std::int64_t least, std::uint64_t most);
/// Refuses what is no text, or has a zero byte in it, which ends a text in C.
[[nodiscard]] std::string text_at(Json const& json, Place const& place);

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

template <class Value>
[[nodiscard]] bool is_empty(Value const& value) {
    if constexpr (Optional<Value>) {
        return !value.has_value();
    } else {
        return value == Value{};
    }
}

}  // namespace detail

/// Writes fields to an object, or (`Object` is Json const) reads them from one. Writing throws Error for a number that
/// is not finite. Reading throws UsageError that names the field which is missing or holds something else.
template <class Object, class Format>
class Fields {
public:
    static constexpr bool writes = !std::is_const_v<Object>;
    static inline Place const document{Format::document};

    /// `strict`: close() refuses fields that nobody named. Otherwise they are passed over.
    explicit Fields(Object& object, Place const& place = document, bool strict = false)
        : object_(object), place_(place), strict_(strict) {
        if (!object.is_object()) {
            json::refuse(place, "must be an object");
        }
    }

    void operator()(char const* name, auto& value) { where(true, name, value); }
    /// Null (or `otherwise`) unless `condition`, which the fields before it decide.
    void where(bool condition, char const* name, auto& value, Json otherwise = nullptr) {
        if constexpr (writes) {
            object_[name] = condition ? write_at<Format>(value, Place(place_, name)) : std::move(otherwise);
        } else {
            note(name);
            if (condition) {
                using Value = std::remove_reference_t<decltype(value)>;
                read_at<Format>(member(name, detail::Optional<Value>), value, Place(place_, name), strict_);
            }
        }
    }
    /// Left out where the value is absent or empty.
    void if_known(char const* name, auto& value) {
        note(name);
        if (writes ? !detail::is_empty(value) : has(name)) {
            (*this)(name, value);
        }
    }
    /// Readers keep the value that it has where the field is left out.
    void or_default(char const* name, auto& value) {
        note(name);
        if (writes || has(name)) {
            (*this)(name, value);
        }
    }
    /// [low, high].
    void range(char const* name, auto& low, auto& high) {
        std::vector<double> ends{low, high};
        (*this)(name, ends);
        if constexpr (!writes) {
            if (ends.size() != 2) {
                refuse(name, "must be [low, high]");
            }
            low = ends[0];
            high = ends[1];
        }
    }
    /// In readers: what follows from a field that was read.
    static void set(auto& value, auto const& read) {
        if constexpr (!writes) {
            value = read;
        }
    }
    /// An object whose fields `list` names; null unless `condition`.
    void object(char const* name, auto const& list, bool condition = true) {
        note(name);
        if constexpr (writes) {
            object_[name] = condition ? Json::object() : Json(nullptr);
        }
        if (condition) {
            Place const place(place_, name);
            Fields inner(member(name, false), place, strict_);
            list(inner);
            inner.close();
        }
    }
    /// One whose fields `list` names with the value; left out where that is absent.
    void object_if_known(char const* name, auto& value, auto const& list) {
        note(name);
        if constexpr (writes) {
            if (value) {
                object(name, [&](auto& inner) { list(inner, *value); });
            }
        } else if (has(name)) {
            object(name, [&](auto& inner) { list(inner, value.emplace()); });
        }
    }
    /// Objects whose fields `list` names.
    void objects(char const* name, auto& values, auto const& list) {
        note(name);
        Place const place(place_, name);
        if constexpr (writes) {
            Json& array = object_[name] = Json::array();
            for (auto const& value : values) {
                Fields inner(array.emplace_back(Json::object()), place, strict_);
                list(inner, value);
            }
        } else {
            for (Json const& each : member(name, false)) {
                Place const element(place, values.size());
                Fields inner(each, element, strict_);
                list(inner, values.emplace_back());
                inner.close();
            }
        }
    }
    /// A field that follows from other fields: `make` is called to write it, and readers make it again.
    void derived(char const* name, auto const& make) {
        note(name);
        if constexpr (writes) {
            object_[name] = make();
        }
    }
    /// As `make(value)` writes it and `take(json, value)` reads it.
    void as(char const* name, auto& value, auto const& make, auto const& take) {
        note(name);
        if constexpr (writes) {
            object_[name] = make(value);
        } else {
            take(member(name, false), value);
        }
    }
    /// Whether the field is there, and is not null.
    [[nodiscard]] bool has(char const* name) const {
        auto const found = object_.find(name);
        return found != object_.end() && !found->is_null();
    }
    [[noreturn]] void refuse(char const* name, std::string_view why) const { json::refuse(Place(place_, name), why); }
    /// After the last field.
    void close() const {
        if constexpr (!writes) {
            for (auto const& [name, value] : object_.items()) {
                if (strict_ && std::find(known_.begin(), known_.end(), name) == known_.end()) {
                    detail::refuse_field(place_, name, known_);
                }
            }
        }
    }
    [[nodiscard]] Object& json() const { return object_; }

private:
    void note(char const* name) {
        if (strict_) {
            known_.emplace_back(name);
        }
    }
    [[nodiscard]] Object& member(char const* name, bool may_be_null) const {
        auto const found = object_.find(name);
        if (found == object_.end() || (!may_be_null && found->is_null())) {
            refuse(name, "is missing");
        }
        return *found;
    }

    Object& object_;
    Place const& place_;
    bool strict_;
    std::vector<std::string_view> known_;  // what was named, of a strict reader
};

namespace detail {

/// A whole number, not cut or wrapped: nlohmann's own reading takes 1e300 and -1 as numbers of any type.
template <std::integral Number>
void read_whole(Json const& json, Number& value, Place const& place) {
    bool const fits = json.is_number_unsigned()  ? std::in_range<Number>(json.get<std::uint64_t>())
                      : json.is_number_integer() ? std::in_range<Number>(json.get<std::int64_t>())
                                                 : false;
    if (!fits) {
        constexpr std::int64_t least = std::numeric_limits<Number>::min();
        constexpr std::uint64_t most = std::numeric_limits<Number>::max();
        refuse_number(place, least, most);
    }
    value = json.get<Number>();
}

template <class Enum>
void read_name(Json const& json, Enum& value, Place const& place) {
    std::string const word = text_at(json, place);
    std::vector<std::string_view> known;
    for (Enum const each : every_value<Enum>) {
        if (name_of(each) == word) {
            value = each;
            return;
        }
        known.push_back(name_of(each));
    }
    refuse_word(place, word, known);
}

template <class Format, class Value>
void read_list(Json const& json, Value& values, Place const& place, bool strict) {
    if (!json.is_array()) {
        refuse(place, "must be a list");
    }
    if constexpr (requires { values.resize(json.size()); }) {
        values.clear();
        values.resize(json.size());
    } else if (json.size() != values.size()) {
        refuse(place, "must be a list of " + std::to_string(values.size()));
    }
    for (std::size_t index = 0; index < values.size(); ++index) {
        read_at<Format>(json[index], values[index], Place(place, index), strict);
    }
}

}  // namespace detail

template <class Format, class Value>
Json write_at(Value const& value, Place const& place) {
    if constexpr (detail::Plain<Value>) {
        return value;
    } else if constexpr (std::floating_point<Value>) {
        return finite(value, place);
    } else if constexpr (std::is_enum_v<Value>) {
        return name_of(value);
    } else if constexpr (detail::Optional<Value>) {
        return value ? write_at<Format>(*value, place) : Json(nullptr);
    } else if constexpr (detail::Map<Value>) {
        Json object = Json::object();
        for (auto const& [key, each] : value) {
            object[key] = write_at<Format>(each, Place(place, key));
        }
        return object;
    } else if constexpr (detail::List<Value>) {
        Json array = Json::array();
        for (auto const& each : value) {
            array.push_back(write_at<Format>(each, Place(place, array.size())));
        }
        return array;
    } else {
        Json object = Json::object();
        Fields<Json, Format> writer(object, place);
        fields(writer, value);
        return object;
    }
}

template <class Format, class Value>
void read_at(Json const& json, Value& value, Place const& place, bool strict) {
    if constexpr (std::same_as<Value, bool>) {
        if (!json.is_boolean()) {
            refuse(place, "must be true or false");
        }
        value = json.get<bool>();
    } else if constexpr (std::integral<Value>) {
        detail::read_whole(json, value, place);
    } else if constexpr (std::floating_point<Value>) {
        if (!json.is_number()) {
            refuse(place, "must be a number");
        }
        value = json.get<Value>();
    } else if constexpr (detail::Plain<Value>) {
        value = detail::text_at(json, place);
    } else if constexpr (std::is_enum_v<Value>) {
        detail::read_name(json, value, place);
    } else if constexpr (detail::Optional<Value>) {
        value.reset();
        if (!json.is_null()) {
            // clang takes a struct that is declared inside of another one for one that emplace() cannot make
            typename Value::value_type inner{};
            read_at<Format>(json, inner, place, strict);
            value = std::move(inner);
        }
    } else if constexpr (detail::Map<Value>) {
        if (!json.is_object()) {
            refuse(place, "must be an object");
        }
        for (auto const& [key, each] : json.items()) {
            read_at<Format>(each, value[key], Place(place, key), strict);
        }
    } else if constexpr (detail::List<Value>) {
        detail::read_list<Format>(json, value, place, strict);
    } else {
        Fields<Json const, Format> reader(json, place, strict || Format::template strict<Value>);
        fields(reader, value);
        reader.close();
    }
}

}  // namespace dlmb::json
