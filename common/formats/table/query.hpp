// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Asking a tuning table. Pure: the same question has the same answer on every rank and in every reader (C, Python).
#pragma once

#include "common/formats/table/table.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dlmb::tuning {

/// The key of a table: what is known of an operation that is measured, asked about or run. Values are global to the
/// plan (mean size, imbalance), never counts of one rank: ranks that disagree hang. An unknown value (nothing, an empty
/// text) matches only a rule without that condition.
struct Key {
    TunedOperation operation = TunedOperation::allreduce;
    std::optional<Bytes> bytes = {};          // in basis_of(operation)
    std::optional<std::uint64_t> ranks = {};  // of the communicator
    std::optional<std::uint64_t> nodes = {};  // that it lies on
    std::string memory = {};                  // memory_words
    std::string dtype = {};                   // element_words
    std::string reduction = {};               // reduction_words
    std::optional<bool> in_place = {};
    std::optional<bool> uniform = {};      // exchange: all blocks equal
    std::optional<double> imbalance = {};  // exchange: largest total that a rank sends or receives / mean
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    auto operator<=>(Key const&) const = default;
};

/// A word of a question that no table can have: it would silently keep the default.
struct UnknownWord {
    std::string_view key;
    std::string_view word;
    std::span<std::string_view const> known;
    [[nodiscard]] explicit operator bool() const { return !key.empty(); }
};
/// The first one of the key, or `backend`. The table may have scopes beyond backend_words. Allocates nothing.
[[nodiscard]] UnknownWord unknown_word(TuningTable const& table, Key const& key, std::string_view backend);

[[nodiscard]] bool matches(When const& when, Key const& key);
/// Some operation fulfils both.
[[nodiscard]] bool meets(When const& one, When const& other);
/// Every operation that fulfils `inner` fulfils `outer`.
[[nodiscard]] bool covers(When const& outer, When const& inner);

/// The rules that answer a question; they live as long as the table.
struct Match {
    Rule const* select = nullptr;  // which backend; none for a question that names one
    Rule const* method = nullptr;  // which method inside the backend
    [[nodiscard]] explicit operator bool() const { return deciding() != nullptr; }
    /// The rule whose choice is executed; nullptr: no rule, keep the default.
    [[nodiscard]] Rule const* deciding() const { return method != nullptr ? method : select; }
};

/// Without a `backend` the first match in scope "select", then the first match in the scope of the backend that it
/// chose; with one the first match in its scope.
[[nodiscard]] Match lookup(TuningTable const& table, Key const& key, std::string_view backend);

/// lookup() for callers who ask on every operation: the rules by operation and scope, and there by the range of sizes
/// in which the same rules are possible. Nothing is allocated by a question.
class RuleIndex {
public:
    /// The table outlives the index and does not change.
    explicit RuleIndex(TuningTable const& table);

    /// The answer of lookup().
    [[nodiscard]] Match find(Key const& key, std::string_view backend) const;

private:
    /// The number of ranks rules out most of what the size leaves, without a look at the rule.
    struct RuleEntry {
        CountInterval ranks;
        Rule const* rule;
    };
    /// Rules of one scope and operation. Sizes from starts[i] to the next start have entries from first[i] to first[i +
    /// 1], in the order of the table.
    struct RuleGroup {
        std::string_view scope;
        std::vector<Rule const*> rules;
        std::vector<Bytes> starts;
        std::vector<std::size_t> first;
        std::vector<RuleEntry> entries;
    };
    static void fill(RuleGroup& group);
    [[nodiscard]] Rule const* first_match(std::string_view scope, Key const& key) const;

    TuningTable const& table_;
    std::array<std::vector<RuleGroup>, every_tuned_operation.size()> groups_;  // by operation
};

}  // namespace dlmb::tuning
