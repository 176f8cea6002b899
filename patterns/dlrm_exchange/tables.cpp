// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/dlrm_exchange/tables.hpp"

#include "common/base/error.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

namespace dlmb::dlrm_exchange {
namespace {

constexpr std::size_t max_count = 65536;  // as many tables as one random stream can tell apart

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

/// "15.8" as 15,800,000; no more than six digits after the point.
std::optional<Millionths> decimal(std::string_view text, std::uint64_t max) {
    constexpr std::size_t digits = 6;
    auto const point = std::min(text.find('.'), text.size());
    auto const before = whole_number(text.substr(0, point));
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
    auto const fraction = whole_number(after);
    return fraction ? std::optional(*before * one + *fraction) : std::nullopt;
}

class Reader {
public:
    explicit Reader(NumberRule const& rule) : rule_(rule) {}

    void entry(std::string_view text) {
        auto const times = text.find('x');
        std::uint64_t count = 1;
        if (times != std::string_view::npos) {
            count = whole_number(text.substr(0, times)).value_or(0);
        }
        auto const value = decimal(times == std::string_view::npos ? text : text.substr(times + 1), rule_.max);
        bool const legal =
            value && *value >= rule_.min * one && *value <= rule_.max * one && (!rule_.whole || *value % one == 0);
        if (!legal || count == 0) {
            throw UsageError(fmt::format("{} '{}': expected {} from {} to {}, or COUNTx in front of one", rule_.option,
                                         text, rule_.whole ? "a whole number" : "a number with up to six decimals",
                                         rule_.min, rule_.max));
        }
        if (count > max_count - numbers_.size()) {
            throw UsageError(fmt::format("{} '{}': more than {} numbers", rule_.option, text, max_count));
        }
        numbers_.insert(numbers_.end(), count, *value);
    }

    void entries(std::string_view text, std::string_view separators, bool may_be_empty) {
        while (true) {
            auto const end = std::min(text.find_first_of(separators), text.size());
            if (end != 0 || !may_be_empty) {
                entry(text.substr(0, end));
            }
            if (end == text.size()) {
                return;
            }
            text.remove_prefix(end + 1);
        }
    }

    void file(std::string const& path) {
        std::ifstream stream(path);
        if (!stream) {
            throw UsageError(fmt::format("{} file:{}: cannot be opened", rule_.option, path));
        }
        std::string line;
        while (std::getline(stream, line)) {
            entries(std::string_view(line).substr(0, line.find('#')), " \t\r,", true);
        }
        if (numbers_.empty()) {
            throw UsageError(fmt::format("{} file:{}: holds no number", rule_.option, path));
        }
    }

    [[nodiscard]] std::vector<Millionths> finish() && { return std::move(numbers_); }

private:
    NumberRule const& rule_;
    std::vector<Millionths> numbers_;
};

constexpr NamedNumbers rows[] = {
    {"mlperf-v1", "45833188+36746+17245+7413+20243+3+7114+1441+62+29275261+1572176+345138+10+2209+11267+128+4+974+14+"
                  "48937457+11316796+40094537+452104+12606+104+35"},
    {"dcnv2", "40000000+39060+17295+7424+20265+3+7122+1543+63+40000000+3067956+405282+10+2209+11938+155+4+976+14+"
              "40000000+40000000+40000000+590152+12973+108+36"},
};

constexpr NamedNumbers pooling[] = {
    {"dcnv2", "3+2+1+2+6+1+1+1+1+7+3+8+1+6+9+5+1+1+1+12+100+27+10+3+1+1"},
};

constexpr std::size_t max_tables = 65536;
constexpr std::size_t criteo_tables = 26;

struct List {
    NumberRule rule;
    std::vector<Millionths> numbers;

    List(Parameters const& parameters, std::string_view name, NumberRule const& limits)
        : rule(limits), numbers(read_numbers(parameters.find(name)->second, limits)) {}

    void fit(std::size_t tables) {
        if (numbers.size() == 1) {
            numbers.resize(tables, numbers.front());
        }
        if (numbers.size() != tables) {
            throw UsageError(fmt::format("{}: {} numbers for {} tables; give 1 or {}, or change --tables", rule.option,
                                         numbers.size(), tables, tables));
        }
    }
};

}  // namespace

std::vector<Millionths> read_numbers(std::string_view text, NumberRule const& rule) {
    Reader reader(rule);
    if (text.substr(0, file_prefix.size()) == file_prefix) {
        reader.file(std::string(text.substr(file_prefix.size())));
    } else {
        auto const known = std::find_if(rule.named.begin(), rule.named.end(),
                                        [&](NamedNumbers const& list) { return list.name == text; });
        reader.entries(known == rule.named.end() ? text : known->text, "+", false);
    }
    return std::move(reader).finish();
}

std::span<NamedNumbers const> published_rows() {
    return rows;
}

std::span<NamedNumbers const> published_pooling() {
    return pooling;
}

std::vector<Table> read_tables(Parameters const& parameters) {
    List rows(parameters, "rows", {"--rows", true, 1, max_rows, published_rows()});
    List dims(parameters, "dim", {"--dim", true, 1, max_dim, {}});
    List pooling(parameters, "pooling", {"--pooling", false, 0, max_pooling, published_pooling()});
    std::size_t count = read_unsigned(parameters, "tables", 0, max_tables);
    if (count == 0) {
        std::size_t const longest = std::max({rows.numbers.size(), dims.numbers.size(), pooling.numbers.size()});
        count = longest == 1 ? criteo_tables : longest;
    }
    for (List* list : {&rows, &dims, &pooling}) {
        list->fit(count);
    }
    std::vector<Table> tables;
    for (std::size_t t = 0; t < count; ++t) {
        tables.push_back({rows.numbers[t] / one, dims.numbers[t] / one, pooling.numbers[t]});
    }
    return tables;
}

}  // namespace dlmb::dlrm_exchange
