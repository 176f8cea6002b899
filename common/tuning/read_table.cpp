// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/read_table.hpp"

#include "common/tuning/from_json.hpp"
#include "common/tuning/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace dlmb::tuning {
namespace {

constexpr std::string_view schema_family = "dlmb.tuning-table/";
constexpr int deepest = 16;  // a table nests seven deep

[[noreturn]] void refuse(TableFault fault, std::string const& what) {
    throw TableError(fault, what);
}

/// JSON leaves open what two fields of one name mean, and readers differ: such a table would have two answers.
class SyntaxWatch {
public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
            if (depth > deepest) {
                refuse(TableFault::syntax, fmt::format("nests deeper than {}", deepest));
            }
            fields_.resize(static_cast<std::size_t>(depth) + 1);
            fields_.back().clear();
        } else if (event == Json::parse_event_t::key) {
            auto& fields = fields_[static_cast<std::size_t>(depth) - 1];
            if (!fields.insert(parsed.get<std::string>()).second) {
                refuse(TableFault::syntax, fmt::format("the field '{}' is there twice", parsed.get<std::string>()));
            }
        }
        return true;
    }

private:
    std::vector<std::set<std::string>> fields_;  // of the open objects, by depth
};

Json parse(std::string_view text) {
    try {
        return Json::parse(text, SyntaxWatch{});
    } catch (Json::parse_error const& error) {
        auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        refuse(TableFault::syntax, fmt::format("line {}: not JSON; {}", 1 + std::count(text.begin(), end, '\n'),
                                               "write the table again or correct it by hand"));
    } catch (Json::exception const& error) {
        refuse(TableFault::syntax, fmt::format("not JSON: {}", error.what()));
    }
}

/// The minor version, of a table that this program can read.
unsigned minor_of(std::string const& schema) {
    std::string_view rest = schema;
    unsigned minor = 0;
    constexpr std::string_view major = "1.";
    if (rest.starts_with(schema_family) && (rest.remove_prefix(schema_family.size()), rest.starts_with(major))) {
        rest.remove_prefix(major.size());
        auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), minor);
        if (error == std::errc{} && end == rest.data() + rest.size()) {
            return minor;
        }
    }
    refuse(TableFault::schema,
           fmt::format("schema: '{}' cannot be read by this program, which knows {}1.x", schema, schema_family));
}

TuningTable table_from(Json const& value) {
    TuningTable table;
    JsonObject object(value, "");
    bool const tolerant = minor_of(object.text("schema")) > minor_of(table_schema);
    read_envelope(object, table, tolerant);
    for (JsonObject const& rule : object.objects("rules")) {
        table.rules.push_back(rule_from(rule));
    }
    if (!tolerant) {
        object.close();
    }
    std::vector<Problem> const problems = validate(table);
    if (!problems.empty()) {
        refuse(TableFault::schema, fmt::format("{}: {}", problems.front().path, problems.front().what));
    }
    sort_rules(table);
    return table;
}

}  // namespace

TuningTable parse_table(std::string_view text, std::string_view source) {
    try {
        return table_from(parse(text));
    } catch (TableError const& error) {
        throw TableError(error.fault(), fmt::format("{}: {}", source, error.what()));
    }
}

TuningTable read_table(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    bool whole = file.is_open();
    std::string text;
    try {
        text.assign(std::istreambuf_iterator<char>(file), {});
    } catch (std::ios_base::failure const&) {  // a folder opens, but cannot be read
        whole = false;
    }
    if (!whole) {
        refuse(TableFault::io, fmt::format("{}: cannot be read; give the path of a tuning table", path.string()));
    }
    return parse_table(text, path.string());
}

void require_system(TuningTable const& table, std::string_view system_key, std::string_view source) {
    if (table.system.key != system_key) {
        refuse(TableFault::system, fmt::format("{}: was measured on system {}, this is {}; measure a table here",
                                               source, table.system.key, system_key));
    }
}

}  // namespace dlmb::tuning
