// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/sizes/counts_file.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

namespace dlmb {
namespace {

constexpr std::string_view separators = " \t\r,";

struct Place {
    std::string const& file;
    std::size_t line;
    [[noreturn]] void refuse(std::string const& what) const {
        throw UsageError(fmt::format("{}:{}: {}", file, line, what));
    }
};

double read_value(std::string_view word, Place const& place) {
    double value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    bool const whole = error == std::errc{} && end == word.data() + word.size();
    if (!whole || !std::isfinite(value) || value < 0) {
        place.refuse(fmt::format("'{}': expected a count or weight of 0 or more", word));
    }
    return value;
}

std::vector<double> read_line(std::string_view line, Place const& place) {
    std::vector<double> values;
    line = line.substr(0, line.find('#'));
    while (true) {
        auto const begin = line.find_first_not_of(separators);
        if (begin == std::string_view::npos) {
            return values;
        }
        line.remove_prefix(begin);
        auto const end = std::min(line.find_first_of(separators), line.size());
        values.push_back(read_value(line.substr(0, end), place));
        line.remove_prefix(end);
    }
}

}  // namespace

CountsTable read_counts(std::istream& text, std::string const& name, CountsShape shape) {
    std::vector<double> values;
    std::string line;
    std::size_t number = 0;
    while (std::getline(text, line)) {
        Place const place{name, ++number};
        std::vector<double> const row = read_line(line, place);
        if (row.empty()) {
            continue;
        }
        if (row.size() != shape.bins) {
            place.refuse(fmt::format("{} values, expected {} (one per expert)", row.size(), shape.bins));
        }
        if (std::all_of(row.begin(), row.end(), [](double value) { return value == 0; })) {
            place.refuse("no value above 0");
        }
        values.insert(values.end(), row.begin(), row.end());
    }
    std::size_t const rows = values.size() / shape.bins;
    if (rows != 1 && rows != shape.sources) {
        throw UsageError(fmt::format("{}:{}: {} lines of values, expected 1 or {} (one per source rank)", name, number,
                                     rows, shape.sources));
    }
    return {std::move(values), shape.bins};
}

CountsTable read_counts_file(std::string const& path, CountsShape shape) {
    std::ifstream file(path);
    if (!file) {
        throw UsageError(fmt::format("--skew file:{}: cannot be opened", path));
    }
    return read_counts(file, path, shape);
}

}  // namespace dlmb
