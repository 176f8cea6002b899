// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/tuning_export/agreement.hpp"

#include "common/formats/table/query.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace dlmb::tuning {
namespace {

constexpr std::uint32_t tables = 20;
constexpr int points_per_table = 500;
constexpr std::array<std::uint64_t, 8> rank_cuts{2, 3, 4, 5, 8, 9, 16, 17};

template <class Number>
Number any_of(std::mt19937& random, Number least, Number most) {
    return std::uniform_int_distribution<Number>(least, most)(random);
}

Bytes any_size(std::mt19937& random) {
    return any_of<Bytes>(random, 0, (Bytes{1} << any_of(random, 4, 40)) - 1);
}

void add_column(TuningTable& table, TableShape const& shape, Names const& names, CountInterval ranks,
                std::mt19937& random) {
    Bytes next = any_size(random) % 4096;
    for (int i = any_of(random, 0, 4); i > 0; --i) {
        Bytes const last = next + any_size(random);
        auto const pick = any_of<std::size_t>(random, 0, names.algorithms.size() + 1);
        bool const keep = pick >= names.algorithms.size();
        Rule rule = make_rule(shape, names.operation, keep ? "" : names.algorithms[pick], ranks, {next, last});
        rule.id = "r" + std::to_string(table.rules.size());
        rule.status = !keep ? RuleStatus::chosen : pick % 2 == 0 ? RuleStatus::tie : RuleStatus::no_gain;
        if (names.operation == TunedOperation::exchange) {
            rule.when.uniform = names.uniform;
        }
        rule.when.dtype = any_of(random, 0, 9) == 0 ? "bf16" : "fp32";
        table.rules.push_back(rule);
        next = last + 1 + (any_of(random, 0, 2) == 0 ? any_size(random) : 0);
    }
}

std::string answer(Rule const* rule) {
    return rule == nullptr || !rule->choose.algorithm ? "" : rule->choose.algorithm->name;
}

Key key_at(Point const& point, TableShape const& shape) {
    Key key;
    key.operation = point.operation;
    key.bytes = point.bytes;
    key.ranks = point.ranks;
    key.nodes = point.nodes;
    key.dtype = "fp32";
    key.memory = shape.memory;
    if (point.operation == TunedOperation::exchange) {
        key.uniform = point.uniform;
    }
    return key;
}

Point any_point(TuningTable const& table, TableShape const& shape, std::mt19937& random) {
    Names const& names = shape.names[any_of<std::size_t>(random, 0, shape.names.size() - 1)];
    Point point{names.operation, names.uniform, any_size(random), any_of<std::uint64_t>(random, 1, 20)};
    if (any_of(random, 0, 3) != 0 && !table.rules.empty()) {
        Rule const& rule = table.rules[any_of<std::size_t>(random, 0, table.rules.size() - 1)];
        ByteInterval const bytes = *rule.when.bytes;
        std::array const sizes{bytes.min, bytes.max, bytes.max + 1, bytes.min == 0 ? 0 : bytes.min - 1,
                               any_of(random, bytes.min, bytes.max)};
        std::array const ranks{rule.when.ranks->min, rule.when.ranks->max, rule.when.ranks->max + 1};
        point = {rule.when.operation, rule.when.uniform.value_or(false),
                 sizes.at(any_of<std::size_t>(random, 0, sizes.size() - 1)),
                 ranks.at(any_of<std::size_t>(random, 0, ranks.size() - 1))};
    }
    point.bytes -= point.bytes % point.ranks;
    return point;
}

bool is_lost(std::vector<Lost> const& lost, Rule const* rule) {
    return rule != nullptr &&
           std::any_of(lost.begin(), lost.end(), [&](Lost const& one) { return one.rule == rule->id; });
}

/// A choice that a lost rule makes beyond its sizes.
bool reaches_too_far(TuningTable const& table, std::vector<Lost> const& lost, Point const& point,
                     std::string const& seen) {
    return std::any_of(table.rules.begin(), table.rules.end(), [&](Rule const& rule) {
        return rule.when.operation == point.operation && answer(&rule) == seen &&
               std::any_of(lost.begin(), lost.end(),
                           [&](Lost const& one) { return one.rule == rule.id && one.why == LostReason::size_ignored; });
    });
}

/// Disjoint rules over ranks and bytes with holes, defaults, ties, and some rules of another element.
TuningTable random_table(TableShape const& shape, std::uint32_t seed) {
    std::mt19937 random(seed);
    TuningTable table;
    for (Names const& names : shape.names) {
        for (std::size_t i = 0; i + 1 < rank_cuts.size(); i += 1 + any_of<std::size_t>(random, 0, 1)) {
            add_column(table, shape, names, {rank_cuts.at(i), rank_cuts.at(i + 1) - 1}, random);
        }
    }
    return table;
}

}  // namespace

Rule make_rule(TableShape const& shape, TunedOperation operation, std::string const& algorithm, CountInterval ranks,
               ByteInterval bytes) {
    Rule rule;
    rule.id = "r0";
    rule.scope = shape.scope;
    rule.when.operation = operation;
    rule.when.ranks = ranks;
    rule.when.bytes = bytes;
    rule.when.memory = shape.memory;
    rule.choose.backend = shape.scope;
    if (!algorithm.empty()) {
        rule.choose.method = "blocking";
        rule.choose.algorithm = Algorithm{shape.family, algorithm, {}};
        rule.choose.params.protocol = shape.protocol;
    }
    return rule;
}

TuningTable table_of(std::vector<Rule> rules) {
    TuningTable table;
    table.rules = std::move(rules);
    for (std::size_t index = 0; index < table.rules.size(); ++index) {
        table.rules[index].id = "r" + std::to_string(index);
    }
    return table;
}

void expect_agreement(TableShape const& shape, MakeReader const& make_reader) {
    int alike = 0;
    for (std::uint32_t seed = 1; seed <= tables; ++seed) {
        TuningTable const table = random_table(shape, seed);
        std::vector<Lost> lost;
        Reader const reader = make_reader(table, lost);
        std::mt19937 random(seed);
        for (int i = 0; i < points_per_table; ++i) {
            Point const point = any_point(table, shape, random);
            Match const match = lookup(table, key_at(point, shape), shape.scope);
            Rule const* const rule = match.deciding();
            std::string const seen = reader(point);
            alike += seen == answer(rule) && !seen.empty() ? 1 : 0;
            if (seen != answer(rule) && !is_lost(lost, rule) && !reaches_too_far(table, lost, point, seen)) {
                ADD_FAILURE() << "table " << seed << ": " << name_of(point.operation) << " of " << point.bytes
                              << " bytes, " << point.ranks << " ranks: '" << seen << "', the table says '"
                              << answer(rule) << "' by " << (rule == nullptr ? "no rule" : rule->id);
                return;
            }
        }
    }
    EXPECT_GT(alike, 500) << "too few points at which something was chosen to mean anything";
}

}  // namespace dlmb::tuning
