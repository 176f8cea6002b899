// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tuning/rule_index.hpp"

#include <algorithm>

namespace dlmb::tuning {

RuleIndex::RuleIndex(TuningTable const& table) {
    for (Rule const& rule : table.rules) {
        auto group = std::find_if(groups_.begin(), groups_.end(), [&](Group const& each) {
            return each.operation == rule.when.operation && each.scope == rule.scope;
        });
        if (group == groups_.end()) {
            group = groups_.insert(groups_.end(), {rule.scope, rule.when.operation, {}});
        }
        group->entries.push_back({rule.when.bytes.value_or(ByteInterval{0, no_limit}), &rule});
    }
}

Match RuleIndex::find(Query const& query) const {
    if (!query.backend.empty()) {
        return {nullptr, first_match(query.backend, query)};
    }
    Rule const* select = first_match(select_scope, query);
    return {select, select == nullptr ? nullptr : first_match(select->choose.backend, query)};
}

Rule const* RuleIndex::first_match(std::string_view scope, Query const& query) const {
    for (Group const& group : groups_) {
        if (group.operation != query.operation || group.scope != scope) {
            continue;
        }
        for (Entry const& entry : group.entries) {
            bool const possible = !query.bytes || entry.bytes.contains(*query.bytes);
            if (possible && matches(entry.rule->when, query)) {
                return entry.rule;
            }
        }
        return nullptr;
    }
    return nullptr;
}

}  // namespace dlmb::tuning
