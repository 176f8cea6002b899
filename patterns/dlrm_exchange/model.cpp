// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/model.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::size_t max_tables = 65536;  // as many as one random stream can tell apart
constexpr std::size_t criteo_tables = 26;
constexpr std::uint64_t max_width = std::uint64_t{1} << 24;
constexpr std::uint64_t max_parameters = std::uint64_t{1} << 48;
constexpr std::size_t max_layers = 1024;

/// "15.8" as 15,800,000; no more than six digits after the point.
std::optional<Millionths> decimal(std::string_view text, std::uint64_t max) {
    constexpr std::size_t digits = 6;
    auto const point = std::min(text.find('.'), text.size());
    auto const before = parse_whole<std::uint64_t>(text.substr(0, point));
    if (!before || *before > max) {
        return std::nullopt;
    }
    if (point == text.size()) {
        return *before * one;
    }
    std::string after(text.substr(point + 1));
    if (after.empty() || after.size() > digits) {
        return std::nullopt;
    }
    after.resize(digits, '0');
    auto const fraction = parse_whole<std::uint64_t>(after);
    return fraction ? std::optional(*before * one + *fraction) : std::nullopt;
}

/// A number, or COUNTx and a number.
void add_entry(std::vector<Millionths>& numbers, std::string_view text, NumberRule const& rule) {
    auto const times = text.find('x');
    bool const repeated = times != std::string_view::npos;
    std::uint64_t const count = repeated ? parse_whole<std::uint64_t>(text.substr(0, times)).value_or(0) : 1;
    auto const value = decimal(repeated ? text.substr(times + 1) : text, rule.max);
    bool const legal =
        value && *value >= rule.min * one && *value <= rule.max * one && (!rule.whole || *value % one == 0);
    if (!legal || count == 0) {
        throw UsageError(fmt::format("{} '{}': expected {} from {} to {}, or COUNTx in front of one", rule.option, text,
                                     rule.whole ? "a whole number" : "a number with up to six decimals", rule.min,
                                     rule.max));
    }
    if (count > max_tables - numbers.size()) {
        throw UsageError(fmt::format("{} '{}': more than {} numbers", rule.option, text, max_tables));
    }
    numbers.insert(numbers.end(), count, *value);
}

std::vector<Millionths> read_file(std::string const& path, NumberRule const& rule) {
    std::string const text = read_option_file(rule.option, path);
    std::vector<Millionths> numbers;
    for (std::string_view const line : split(text, "\n")) {
        for (std::string_view const entry : words(line.substr(0, line.find('#')), " \t\r,")) {
            add_entry(numbers, entry, rule);
        }
    }
    if (numbers.empty()) {
        throw UsageError(fmt::format("{} file:{}: holds no number", rule.option, path));
    }
    return numbers;
}

/// Numbers from `min` to `max` between separators; empty when the text is anything else.
std::vector<std::uint64_t> whole_numbers(std::string_view text, std::string_view separator, std::uint64_t min,
                                         std::uint64_t max) {
    std::vector<std::uint64_t> numbers;
    for (std::string_view const part : split(text, separator)) {
        auto const number = parse_whole<std::uint64_t>(part);
        if (!number || *number < min || *number > max) {
            return {};
        }
        numbers.push_back(*number);
    }
    return numbers;
}

bool is_chain(std::string_view text) {
    return text.find('-') != std::string_view::npos;
}

std::vector<std::uint64_t> read_mlp(std::string_view text, std::string_view option) {
    std::vector<std::uint64_t> numbers =
        is_chain(text) ? whole_numbers(text, "-", 1, max_width) : whole_numbers(text, "-", 0, max_parameters);
    if (numbers.empty() || numbers.size() > max_layers) {
        throw UsageError(fmt::format("{} '{}': expected layer widths up to {} from the input on (13-512-256-64), or a "
                                     "number of parameters",
                                     option, text, max_width));
    }
    return numbers;
}

}  // namespace

std::vector<Millionths> read_numbers(std::string_view text, NumberRule const& rule) {
    if (text.starts_with(file_prefix)) {
        return read_file(std::string(text.substr(file_prefix.size())), rule);
    }
    auto const known =
        std::find_if(rule.named.begin(), rule.named.end(), [&](NamedNumbers const& list) { return list.name == text; });
    std::vector<Millionths> numbers;
    for (std::string_view const entry : split(known == rule.named.end() ? text : known->text, "+")) {
        add_entry(numbers, without_blanks_around(entry), rule);
    }
    return numbers;
}

std::vector<PooledTable> read_tables(Parameters const& parameters) {
    NumberRule const rules[] = {{"--rows", true, 1, max_rows, published_rows},
                                {"--dim", true, 1, max_dim, {}},
                                {"--pooling", false, 0, max_pooling, published_pooling}};
    std::vector<std::vector<Millionths>> lists;
    std::size_t longest = 1;
    for (NumberRule const& rule : rules) {
        lists.push_back(read_numbers(parameters.find(rule.option.substr(2))->second, rule));
        longest = std::max(longest, lists.back().size());
    }
    std::size_t count = read_unsigned(parameters, "tables", 0, max_tables);
    if (count == 0) {
        count = longest == 1 ? criteo_tables : longest;
    }
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (lists[i].size() == 1) {
            lists[i].resize(count, lists[i].front());
        }
        if (lists[i].size() != count) {
            throw UsageError(fmt::format("{}: {} numbers for {} tables; give 1 or {}, or change --tables",
                                         rules[i].option, lists[i].size(), count, count));
        }
    }
    std::vector<PooledTable> tables;
    for (std::size_t t = 0; t < count; ++t) {
        tables.push_back({lists[0][t] / one, lists[1][t] / one, lists[2][t]});
    }
    return tables;
}

std::uint64_t mlp_parameters(std::string_view text, std::string_view option) {
    std::vector<std::uint64_t> const widths = read_mlp(text, option);
    if (!is_chain(text)) {
        return widths.front();
    }
    std::uint64_t parameters = 0;
    for (std::size_t layer = 1; layer < widths.size(); ++layer) {
        parameters += (widths[layer - 1] + 1) * widths[layer];
    }
    return parameters;
}

std::uint64_t cross_parameters(std::string_view text, std::uint64_t width) {
    if (text == "0") {
        return 0;
    }
    std::vector<std::uint64_t> const numbers = whole_numbers(text, "x", 1, max_width);
    if (numbers.size() != 2 || numbers[0] > max_layers) {
        throw UsageError(fmt::format("--cross '{}': expected LAYERSxRANK (3x512), or 0 for none", text));
    }
    if (width == 0) {
        throw UsageError(fmt::format(
            "--cross '{}': needs the input width of the top MLP; give --top as widths, not as a count", text));
    }
    return numbers[0] * (2 * width * numbers[1] + width);
}

std::uint64_t input_width(std::string_view mlp, std::string_view option) {
    return is_chain(mlp) ? read_mlp(mlp, option).front() : 0;
}

}  // namespace dlmb::dlrm_exchange
