// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// lookup() for callers who ask on every operation: the rules by operation and scope, and there by the range of sizes in
// which the same rules are possible. Nothing is allocated by a question.
#pragma once

#include "common/tuning/query.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

class RuleIndex {
public:
    /// The table outlives the index and does not change.
    explicit RuleIndex(TuningTable const& table);

    /// The answer of lookup().
    [[nodiscard]] Match find(Query const& query) const;

private:
    /// The number of ranks rules out most of what the size leaves, without a look at the rule.
    struct Entry {
        CountInterval ranks;
        Rule const* rule;
    };
    /// Rules of one scope and operation. Sizes from starts[i] to the next start have entries from first[i] to first[i +
    /// 1], in the order of the table.
    struct Group {
        std::string_view scope;
        std::vector<Rule const*> rules;
        std::vector<Bytes> starts;
        std::vector<std::size_t> first;
        std::vector<Entry> entries;
    };
    static void fill(Group& group, std::vector<Bytes> starts);
    [[nodiscard]] Rule const* first_match(std::string_view scope, Query const& query) const;

    TuningTable const& table_;
    std::array<std::vector<Group>, every_tuned_operation.size()> groups_;  // by operation
};

}  // namespace dlmb::tuning
