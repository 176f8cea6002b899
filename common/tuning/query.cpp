// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/query.hpp"

#include <algorithm>
#include <string>

namespace dlmb::tuning {
namespace {

/// Whether `holds` is true of each pair of equally named conditions, the operation excepted. The one list of conditions
/// for matching and for proving that rules are disjoint. `Other`: a When or a Query.
template <class Other, class Holds>
bool all_conditions(When const& when, Other const& other, Holds holds) {
    return holds(when.bytes, other.bytes) && holds(when.ranks, other.ranks) && holds(when.nodes, other.nodes) &&
           holds(when.memory, other.memory) && holds(when.dtype, other.dtype) &&
           holds(when.reduction, other.reduction) && holds(when.in_place, other.in_place) &&
           holds(when.uniform, other.uniform) && holds(when.imbalance, other.imbalance);
}

struct Holds {
    template <class Number>
    bool operator()(std::optional<Interval<Number>> const& condition, std::optional<Number> const& value) const {
        return !condition || (value && condition->contains(*value));
    }
    bool operator()(std::optional<bool> const& condition, std::optional<bool> const& value) const {
        return !condition || condition == value;
    }
    bool operator()(std::string const& condition, std::string_view value) const {
        return condition.empty() || condition == value;
    }
};

struct Meets {
    template <class Number>
    bool operator()(std::optional<Interval<Number>> const& one, std::optional<Interval<Number>> const& other) const {
        return !one || !other || one->meets(*other);
    }
    bool operator()(std::optional<bool> const& one, std::optional<bool> const& other) const {
        return !one || !other || *one == *other;
    }
    bool operator()(std::string const& one, std::string const& other) const {
        return one.empty() || other.empty() || one == other;
    }
};

struct Covers {
    template <class Number>
    bool operator()(std::optional<Interval<Number>> const& outer, std::optional<Interval<Number>> const& inner) const {
        return !outer || (inner && outer->covers(*inner));
    }
    bool operator()(std::optional<bool> const& outer, std::optional<bool> const& inner) const {
        return !outer || outer == inner;
    }
    bool operator()(std::string const& outer, std::string const& inner) const {
        return outer.empty() || outer == inner;
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

bool meets(When const& one, When const& other) {
    return one.operation == other.operation && all_conditions(one, other, Meets{});
}

bool covers(When const& outer, When const& inner) {
    return outer.operation == inner.operation && all_conditions(outer, inner, Covers{});
}

Match lookup(TuningTable const& table, Query const& query) {
    if (!query.backend.empty()) {
        return {nullptr, first_match(table.rules, query.backend, query)};
    }
    Rule const* select = first_match(table.rules, select_scope, query);
    return {select, select == nullptr ? nullptr : first_match(table.rules, select->choose.backend, query)};
}

}  // namespace dlmb::tuning
