// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/consumers/nccl/rules.hpp"

#include "common/tuning/consumers/nccl/tuner_abi.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>

namespace dlmb::nccl_tuner {
namespace {

// By number, see tuner_abi.hpp.
constexpr std::array<std::string_view, function_count> functions{"broadcast", "reduce", "allgather", "reducescatter",
                                                                 "allreduce"};

std::vector<std::string_view> columns_of(std::string_view line) {
    std::vector<std::string_view> columns;
    for (std::size_t begin = 0;;) {
        std::size_t const comma = line.find(',', begin);
        columns.push_back(line.substr(begin, comma - begin));
        if (comma == line.npos) {
            return columns;
        }
        begin = comma + 1;
    }
}

template <class Number>
Number number(std::string_view text, Number least, Number most) {
    Number value{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw std::runtime_error("'" + std::string(text) + "' is no number that can stand here");
    }
    return value;
}

std::int64_t count_or_any(std::string_view text) {
    return number<std::int64_t>(text, -1, std::numeric_limits<std::int64_t>::max());
}

template <std::size_t count>
int index_of(std::string_view name, std::array<std::string_view, count> const& names) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw std::runtime_error("'" + std::string(name) + "' is not known");
    }
    return static_cast<int>(found - names.begin());
}

Rule parse_rule(std::string_view line) {
    auto const columns = columns_of(line);
    if (columns.size() < 8 || columns.size() > 10) {
        throw std::runtime_error("has " + std::to_string(columns.size()) + " columns, 8 to 10 are expected");
    }
    constexpr auto most_bytes = std::numeric_limits<std::uint64_t>::max();
    Rule rule;
    rule.function = index_of(columns[0], functions);
    rule.min_bytes = number<std::uint64_t>(columns[1], 0, most_bytes);
    rule.max_bytes = number<std::uint64_t>(columns[2], rule.min_bytes, most_bytes);
    rule.algorithm = index_of(columns[3], algorithm_names);
    rule.protocol = index_of(columns[4], protocol_names);
    rule.channels = number<int>(columns[5], -1, std::numeric_limits<int>::max());
    rule.nodes = count_or_any(columns[6]);
    rule.ranks = count_or_any(columns[7]);
    rule.pipe_ops = columns.size() > 8 ? count_or_any(columns[8]) : -1;
    if (columns.size() > 9 && count_or_any(columns[9]) != -1) {
        throw std::runtime_error("registered must be -1: ranks may differ in it");
    }
    return rule;
}

}  // namespace

bool Rule::matches(Call const& call) const {
    return function == call.function && min_bytes <= call.bytes && call.bytes <= max_bytes &&
           (ranks == -1 || ranks == call.ranks) && (nodes == -1 || nodes == call.nodes) &&
           (pipe_ops == -1 || pipe_ops == call.pipe_ops);
}

std::vector<Rule> parse_rules(std::string_view text) {
    std::vector<Rule> rules;
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int count = 1; std::getline(lines, line); ++count) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        try {
            rules.push_back(parse_rule(line));
        } catch (std::runtime_error const& error) {
            throw std::runtime_error("line " + std::to_string(count) + ": " + error.what());
        }
    }
    return rules;
}

std::vector<Rule> read_rules(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    if (!file) {
        throw std::runtime_error("cannot be read");
    }
    return parse_rules(content.str());
}

}  // namespace dlmb::nccl_tuner
