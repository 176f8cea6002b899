// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// lookup() for callers who ask on every operation: the rules sorted into one list per scope and operation, with their
// sizes side by side. Nothing is allocated by a question.
#pragma once

#include "common/tuning/query.hpp"

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
    /// What rules out most rules, in one half of a cache line.
    struct Entry {
        ByteInterval bytes;
        Rule const* rule;
    };
    struct Group {
        std::string_view scope;
        TunedOperation operation;
        std::vector<Entry> entries;
    };
    [[nodiscard]] Rule const* first_match(std::string_view scope, Query const& query) const;

    std::vector<Group> groups_;
};

}  // namespace dlmb::tuning
