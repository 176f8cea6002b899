// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/rule_index.hpp"

#include <algorithm>

namespace dlmb::tuning {
namespace {

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

}  // namespace

RuleIndex::RuleIndex(TuningTable const& table) : table_(table) {
    for (Rule const& rule : table.rules) {
        auto& groups = groups_.at(static_cast<std::size_t>(rule.when.operation));
        auto group =
            std::find_if(groups.begin(), groups.end(), [&](Group const& each) { return each.scope == rule.scope; });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {rule.scope, {}, {}, {}, {}});
        }
        group->rules.push_back(&rule);
    }
    for (auto& groups : groups_) {
        for (Group& group : groups) {
            std::vector<Bytes> starts = starts_of(group.rules);
            bool const many = entries_for(group.rules, starts) > most_entries_per_rule * group.rules.size();
            fill(group, many ? std::vector<Bytes>{0} : std::move(starts));
        }
    }
}

void RuleIndex::fill(Group& group, std::vector<Bytes> starts) {
    bool const one_range = starts.size() == 1;
    for (Bytes const start : starts) {
        group.first.push_back(group.entries.size());
        for (Rule const* rule : group.rules) {
            if (one_range || bytes_of(*rule).contains(start)) {
                group.entries.push_back({rule->when.ranks.value_or(CountInterval{0, no_limit}), rule});
            }
        }
    }
    group.first.push_back(group.entries.size());
    group.starts = std::move(starts);
}

Match RuleIndex::find(Query const& query) const {
    if (!query.bytes) {
        return lookup(table_, query);
    }
    if (!query.backend.empty()) {
        return {nullptr, first_match(query.backend, query)};
    }
    Rule const* select = first_match(select_scope, query);
    return {select, select == nullptr ? nullptr : first_match(select->choose.backend, query)};
}

Rule const* RuleIndex::first_match(std::string_view scope, Query const& query) const {
    auto const& groups = groups_[static_cast<std::size_t>(query.operation)];
    auto const group =
        std::find_if(groups.begin(), groups.end(), [&](Group const& each) { return each.scope == scope; });
    if (group == groups.end()) {
        return nullptr;
    }
    auto const after = std::upper_bound(group->starts.begin(), group->starts.end(), *query.bytes);
    auto const range = static_cast<std::size_t>(after - group->starts.begin()) - 1;
    for (std::size_t i = group->first[range]; i < group->first[range + 1]; ++i) {
        Entry const& entry = group->entries[i];
        bool const possible = !query.ranks || entry.ranks.contains(*query.ranks);
        if (possible && matches(entry.rule->when, query)) {
            return entry.rule;
        }
    }
    return nullptr;
}

}  // namespace dlmb::tuning
