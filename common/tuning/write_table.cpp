// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/write_table.hpp"

#include "common/base/error.hpp"
#include "common/tuning/to_json.hpp"
#include "common/tuning/validate.hpp"

#include <fmt/format.h>

#include <fstream>

namespace dlmb::tuning {

std::string to_json(TuningTable const& table) {
    std::vector<Problem> const problems = validate(table);
    if (!problems.empty()) {
        throw UsageError(fmt::format("tuning table: {}: {}", problems.front().path, problems.front().what));
    }
    TuningTable sorted = table;
    sort_rules(sorted);
    std::string text = envelope_json(sorted).dump(2);
    constexpr std::string_view closing = "\n}";
    text.resize(text.size() - closing.size());
    text += ",\n  \"rules\": [";
    for (Rule const& rule : sorted.rules) {
        text += fmt::format("{}\n    {}", &rule == sorted.rules.data() ? "" : ",", rule_json(rule).dump());
    }
    return text + "\n  ]\n}\n";
}

void write_table(std::filesystem::path const& path, TuningTable const& table) {
    std::string const text = to_json(table);
    std::filesystem::path part = path;
    part += ".part";
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    std::error_code error;
    if (file) {
        std::filesystem::rename(part, path, error);
    }
    if (!file || error) {
        throw OutputError(fmt::format("{}: cannot be written{}{}; is its folder there, and is there space?",
                                      path.string(), error ? ": " : "", error ? error.message() : ""));
    }
}

}  // namespace dlmb::tuning
