// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Asking a tuning table. Pure: the same question has the same answer on every rank and in every reader (C, Python).
#pragma once

#include "common/formats/table/table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

/// What is known of an operation. Keys are global to the plan (mean size, imbalance), never counts of one rank: ranks
/// that disagree hang. An unknown value matches only a rule without that condition.
struct Query {
    TunedOperation operation = TunedOperation::allreduce;
    std::string_view backend;    // empty: the table selects it
    std::optional<Bytes> bytes;  // in basis_of(operation)
    std::optional<std::uint64_t> ranks;
    std::optional<std::uint64_t> nodes;
    std::string_view dtype;
    std::string_view reduction;
    std::string_view memory;
    std::optional<bool> in_place;
    std::optional<bool> uniform;
    std::optional<double> imbalance;
};

/// A word of a query that no table can have: it would silently keep the default.
struct UnknownWord {
    std::string_view key;
    std::string_view word;
    std::span<std::string_view const> known;
    [[nodiscard]] explicit operator bool() const { return !key.empty(); }
};
/// The first one. The table may have scopes beyond backend_words. Allocates nothing.
[[nodiscard]] UnknownWord unknown_word(TuningTable const& table, Query const& query);

[[nodiscard]] bool matches(When const& when, Query const& query);
/// Some operation fulfils both.
[[nodiscard]] bool meets(When const& one, When const& other);
/// Every operation that fulfils `inner` fulfils `outer`.
[[nodiscard]] bool covers(When const& outer, When const& inner);

/// The rules that answer a query; they live as long as the table.
struct Match {
    Rule const* select = nullptr;  // which backend; none for a query that names one
    Rule const* method = nullptr;  // which method inside the backend
    [[nodiscard]] explicit operator bool() const { return deciding() != nullptr; }
    /// The rule whose choice is executed; nullptr: no rule, keep the default.
    [[nodiscard]] Rule const* deciding() const { return method != nullptr ? method : select; }
};

/// A query without a backend takes the first match in scope "select", then the first match in the scope of the backend
/// that it chose; one with a backend looks in that scope only.
[[nodiscard]] Match lookup(TuningTable const& table, Query const& query);

/// lookup() for callers who ask on every operation: the rules by operation and scope, and there by the range of sizes
/// in which the same rules are possible. Nothing is allocated by a question.
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
    static void fill(Group& group);
    [[nodiscard]] Rule const* first_match(std::string_view scope, Query const& query) const;

    TuningTable const& table_;
    std::array<std::vector<Group>, every_tuned_operation.size()> groups_;  // by operation
};

}  // namespace dlmb::tuning
