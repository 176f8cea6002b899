// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/query.hpp"

#include <algorithm>
#include <string>

namespace dlmb::tuning {
namespace {

/// Whether `holds` is true of each pair of equally named conditions, the operation excepted. The one list of conditions
/// for matching and for proving that rules are disjoint. `Other`: a When or a Key.
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
    bool operator()(std::string const& condition, std::string const& value) const {
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

/// A rule stands once in every range of sizes that it covers. Beyond this many entries per rule all sizes are one
/// range: a table made for that would take memory with the square of its rules.
constexpr std::size_t most_entries_per_rule = 64;

ByteInterval bytes_of(Rule const& rule) {
    return rule.when.bytes.value_or(ByteInterval{0, no_limit});
}

/// Where the set of possible rules changes, ascending from 0.
std::vector<Bytes> starts_of(std::vector<Rule const*> const& rules) {
    std::vector<Bytes> starts{0};
    for (Rule const* rule : rules) {
        starts.push_back(bytes_of(*rule).min);
        if (bytes_of(*rule).max != no_limit) {
            starts.push_back(bytes_of(*rule).max + 1);
        }
    }
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    return starts;
}

std::size_t entries_for(std::vector<Rule const*> const& rules, std::vector<Bytes> const& starts) {
    std::size_t entries = 0;
    for (Rule const* rule : rules) {
        auto const begin = std::lower_bound(starts.begin(), starts.end(), bytes_of(*rule).min);
        entries += static_cast<std::size_t>(std::upper_bound(begin, starts.end(), bytes_of(*rule).max) - begin);
    }
    return entries;
}

Rule const* first_match(std::vector<Rule> const& rules, std::string_view scope, Key const& key) {
    auto const found = std::find_if(rules.begin(), rules.end(),
                                    [&](Rule const& rule) { return rule.scope == scope && matches(rule.when, key); });
    return found == rules.end() ? nullptr : &*found;
}

/// `first_in`: the first match in a scope, or null.
template <class FirstIn>
Match match_of(std::string_view backend, FirstIn first_in) {
    if (!backend.empty()) {
        return {nullptr, first_in(backend)};
    }
    Rule const* select = first_in(select_scope);
    return {select, select == nullptr ? nullptr : first_in(select->choose.backend)};
}

}  // namespace

UnknownWord unknown_word(TuningTable const& table, Key const& key, std::string_view backend) {
    auto const is_known = [](std::string_view word, std::span<std::string_view const> known) {
        return word.empty() || std::find(known.begin(), known.end(), word) != known.end();
    };
    for (auto const& each :
         {UnknownWord{"memory", key.memory, memory_words}, UnknownWord{"dtype", key.dtype, element_words},
          UnknownWord{"reduction", key.reduction, reduction_words}}) {
        if (!is_known(each.word, each.known)) {
            return each;
        }
    }
    bool const known_backend =
        is_known(backend, backend_words) ||
        std::any_of(table.rules.begin(), table.rules.end(), [&](Rule const& rule) { return rule.scope == backend; });
    return known_backend ? UnknownWord{} : UnknownWord{"backend", backend, backend_words};
}

bool matches(When const& when, Key const& key) {
    return when.operation == key.operation && all_conditions(when, key, Holds{});
}

bool meets(When const& one, When const& other) {
    return one.operation == other.operation && all_conditions(one, other, Meets{});
}

bool covers(When const& outer, When const& inner) {
    return outer.operation == inner.operation && all_conditions(outer, inner, Covers{});
}

Match lookup(TuningTable const& table, Key const& key, std::string_view backend) {
    return match_of(backend, [&](std::string_view scope) { return first_match(table.rules, scope, key); });
}

RuleIndex::RuleIndex(TuningTable const& table) : table_(table) {
    for (Rule const& rule : table.rules) {
        auto& groups = groups_.at(static_cast<std::size_t>(rule.when.operation));
        auto group =
            std::find_if(groups.begin(), groups.end(), [&](RuleGroup const& each) { return each.scope == rule.scope; });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {rule.scope, {}, {}, {}, {}});
        }
        group->rules.push_back(&rule);
    }
    for (auto& groups : groups_) {
        std::for_each(groups.begin(), groups.end(), fill);
    }
}

void RuleIndex::fill(RuleGroup& group) {
    group.starts = starts_of(group.rules);
    bool const one_range = entries_for(group.rules, group.starts) > most_entries_per_rule * group.rules.size();
    if (one_range) {
        group.starts = {0};
    }
    for (Bytes const start : group.starts) {
        group.first.push_back(group.entries.size());
        for (Rule const* rule : group.rules) {
            if (one_range || bytes_of(*rule).contains(start)) {
                group.entries.push_back({rule->when.ranks.value_or(CountInterval{0, no_limit}), rule});
            }
        }
    }
    group.first.push_back(group.entries.size());
}

Match RuleIndex::find(Key const& key, std::string_view backend) const {
    if (!key.bytes) {
        return lookup(table_, key, backend);
    }
    return match_of(backend, [&](std::string_view scope) { return first_match(scope, key); });
}

Rule const* RuleIndex::first_match(std::string_view scope, Key const& key) const {
    auto const& groups = groups_[static_cast<std::size_t>(key.operation)];
    auto const group =
        std::find_if(groups.begin(), groups.end(), [&](RuleGroup const& each) { return each.scope == scope; });
    if (group == groups.end()) {
        return nullptr;
    }
    auto const after = std::upper_bound(group->starts.begin(), group->starts.end(), *key.bytes);
    auto const range = static_cast<std::size_t>(after - group->starts.begin()) - 1;
    for (std::size_t i = group->first[range]; i < group->first[range + 1]; ++i) {
        RuleEntry const& entry = group->entries[i];
        bool const possible = !key.ranks || entry.ranks.contains(*key.ranks);
        if (possible && matches(entry.rule->when, key)) {
            return entry.rule;
        }
    }
    return nullptr;
}

}  // namespace dlmb::tuning
