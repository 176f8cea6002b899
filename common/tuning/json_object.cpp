// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/json_object.hpp"

#include "common/tuning/read_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace dlmb::tuning {
namespace {

[[noreturn]] void refuse_at(std::string_view path, std::string_view why) {
    throw TableError(TableFault::schema, fmt::format("{}: {}", path, why));
}

std::string as_text(Json const& value, std::string_view path) {
    if (!value.is_string()) {
        refuse_at(path, "must be a text");
    }
    auto text = value.get<std::string>();
    if (text.find('\0') != std::string::npos) {
        refuse_at(path, "holds a zero byte, which ends a text in C");
    }
    return text;
}

std::uint64_t as_whole(Json const& value, std::string_view path) {
    if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0)) {
        refuse_at(path, fmt::format("must be a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
    }
    return value.get<std::uint64_t>();
}

double as_number(Json const& value, std::string_view path) {
    if (!value.is_number()) {
        refuse_at(path, "must be a number");
    }
    return value.get<double>();
}

}  // namespace

JsonObject::JsonObject(Json const& value, std::string path) : value_(&value), path_(std::move(path)) {
    if (!value.is_object()) {
        refuse_at(path_.empty() ? "the table" : path_, "must be an object");
    }
}

std::string JsonObject::path_of(std::string_view name) const {
    return path_.empty() ? std::string{name} : fmt::format("{}.{}", path_, name);
}

void JsonObject::refuse(std::string_view name, std::string_view why) const {
    refuse_at(path_of(name), why);
}

bool JsonObject::has(char const* name) {
    known_.insert(name);
    auto const found = value_->find(name);
    return found != value_->end() && !found->is_null();
}

Json const& JsonObject::at(char const* name) {
    if (!has(name)) {
        refuse(name, "is missing");
    }
    return value_->at(name);
}

std::string JsonObject::text(char const* name) {
    return as_text(at(name), path_of(name));
}

std::string JsonObject::text_or_empty(char const* name) {
    return has(name) ? text(name) : std::string{};
}

std::uint64_t JsonObject::whole(char const* name) {
    return as_whole(at(name), path_of(name));
}

double JsonObject::number(char const* name) {
    return as_number(at(name), path_of(name));
}

std::optional<std::uint64_t> JsonObject::whole_if(char const* name) {
    return has(name) ? std::optional{whole(name)} : std::nullopt;
}

std::optional<std::int64_t> JsonObject::id_if(char const* name) {
    auto const id = whole_if(name);
    if (id && *id > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        refuse(name, "is above 2^63 - 1");
    }
    return id ? std::optional{static_cast<std::int64_t>(*id)} : std::nullopt;
}

std::optional<double> JsonObject::number_if(char const* name) {
    return has(name) ? std::optional{number(name)} : std::nullopt;
}

std::optional<bool> JsonObject::yes_no_if(char const* name) {
    if (!has(name)) {
        return std::nullopt;
    }
    if (!at(name).is_boolean()) {
        refuse(name, "must be true or false");
    }
    return at(name).get<bool>();
}

Json const& JsonObject::list(char const* name) {
    Json const& value = at(name);
    if (!value.is_array()) {
        refuse(name, "must be a list");
    }
    return value;
}

template <class Element>
std::vector<Element> JsonObject::elements(char const* name, Element (*read)(Json const&, std::string_view)) {
    std::vector<Element> elements;
    for (Json const& value : list(name)) {
        elements.push_back(read(value, fmt::format("{}[{}]", path_of(name), elements.size())));
    }
    return elements;
}

std::vector<std::string> JsonObject::texts(char const* name) {
    return elements(name, as_text);
}

std::vector<std::uint64_t> JsonObject::wholes(char const* name) {
    return elements(name, as_whole);
}

std::vector<double> JsonObject::numbers(char const* name) {
    return elements(name, as_number);
}

std::map<std::string, std::string> JsonObject::text_map(char const* name) {
    std::map<std::string, std::string> map;
    if (auto inner = object_if(name)) {
        for (std::string const& key : inner->names()) {
            map.emplace(key, inner->text(key.c_str()));
        }
    }
    return map;
}

JsonObject JsonObject::object(char const* name) {
    return {at(name), path_of(name)};
}

std::optional<JsonObject> JsonObject::object_if(char const* name) {
    return has(name) ? std::optional{object(name)} : std::nullopt;
}

std::vector<JsonObject> JsonObject::objects(char const* name) {
    std::vector<JsonObject> objects;
    for (Json const& value : list(name)) {
        objects.emplace_back(value, fmt::format("{}[{}]", path_of(name), objects.size()));
    }
    return objects;
}

std::vector<std::string> JsonObject::names() const {
    std::vector<std::string> names;
    for (auto const& [name, value] : value_->items()) {
        names.push_back(name);
    }
    return names;
}

void JsonObject::close() const {
    for (std::string const& name : names()) {
        if (!known_.contains(name)) {
            refuse_at(path_.empty() ? "the table" : path_,
                      fmt::format("unknown field '{}'; it has {}", name, fmt::join(known_, ", ")));
        }
    }
}

}  // namespace dlmb::tuning
