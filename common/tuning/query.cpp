// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/query.hpp"

#include "common/tuning/conditions.hpp"

#include <algorithm>

namespace dlmb::tuning {
namespace {

struct Holds {
    template <class Number>
    bool operator()(std::optional<Interval<Number>> const& condition, std::optional<Number> const& value) const {
        return !condition || (value && condition->contains(*value));
    }
    template <class Value>
    bool operator()(std::optional<Value> const& condition, std::optional<Value> const& value) const {
        return !condition || condition == value;
    }
    bool operator()(std::string const& condition, std::string_view value) const {
        return condition.empty() || condition == value;
    }
};

Rule const* first_match(std::vector<Rule> const& rules, std::string_view scope, Query const& query) {
    auto const found = std::find_if(rules.begin(), rules.end(),
                                    [&](Rule const& rule) { return rule.scope == scope && matches(rule.when, query); });
    return found == rules.end() ? nullptr : &*found;
}

}  // namespace

bool matches(When const& when, Query const& query) {
    return when.operation == query.operation && all_conditions(when, query, Holds{});
}

Match lookup(TuningTable const& table, Query const& query) {
    if (!query.backend.empty()) {
        return {nullptr, first_match(table.rules, query.backend, query)};
    }
    Rule const* select = first_match(table.rules, select_scope, query);
    return {select, select == nullptr ? nullptr : first_match(table.rules, select->choose.backend, query)};
}

}  // namespace dlmb::tuning
