// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A JSON object that is read field by field, and complains with the path of the field. Null counts as absent.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

using Json = nlohmann::ordered_json;

/// Every function throws TableError (schema) without the file's name, which the caller of parse_table adds.
class JsonObject {
public:
    JsonObject(Json const& value, std::string path);

    [[nodiscard]] bool has(char const* name);
    [[nodiscard]] std::string text(char const* name);
    [[nodiscard]] std::string text_or_empty(char const* name);
    [[nodiscard]] std::uint64_t whole(char const* name);
    [[nodiscard]] double number(char const* name);
    [[nodiscard]] std::optional<std::uint64_t> whole_if(char const* name);
    [[nodiscard]] std::optional<std::int64_t> id_if(char const* name);
    [[nodiscard]] std::optional<double> number_if(char const* name);
    [[nodiscard]] std::optional<bool> yes_no_if(char const* name);
    [[nodiscard]] std::vector<std::string> texts(char const* name);
    [[nodiscard]] std::vector<std::uint64_t> wholes(char const* name);
    [[nodiscard]] std::vector<double> numbers(char const* name);
    [[nodiscard]] std::map<std::string, std::string> text_map(char const* name);  // absent: empty

    [[nodiscard]] JsonObject object(char const* name);
    [[nodiscard]] std::optional<JsonObject> object_if(char const* name);
    [[nodiscard]] std::vector<JsonObject> objects(char const* name);
    [[nodiscard]] std::vector<std::string> names() const;

    /// Refuses fields that nobody asked for.
    void close() const;
    [[noreturn]] void refuse(std::string_view name, std::string_view why) const;

private:
    [[nodiscard]] Json const& at(char const* name);
    [[nodiscard]] Json const& list(char const* name);
    template <class Element>
    [[nodiscard]] std::vector<Element> elements(char const* name, Element (*read)(Json const&, std::string_view));
    [[nodiscard]] std::string path_of(std::string_view name) const;

    Json const* value_;
    std::string path_;  // empty: the table itself
    std::set<std::string> known_;
};

/// A value that is one of a closed list, by `named` (rule.hpp).
template <class Named>
[[nodiscard]] auto word(JsonObject& object, char const* name, Named named) {
    std::string const text = object.text(name);
    auto const found = named(text);
    if (!found) {
        object.refuse(name, "'" + text + "' is none of its words; see results-schema/README.md");
    }
    return *found;
}

}  // namespace dlmb::tuning
