// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// That RuleIndex answers as lookup() on random tables is in tuning_agreement_test; here is what those do not reach.
#include "common/formats/table/query.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

/// Ranges of sizes nested in each other, one per number of ranks: an entry per rule and range would be their square.
TuningTable nested_table(std::uint64_t rules) {
    TuningTable table = sample_table();
    table.rules.clear();
    for (std::uint64_t ranks = 1; ranks <= rules; ++ranks) {
        Rule rule = plain_rule(std::to_string(ranks), "mpi", TunedOperation::allreduce);
        rule.when.ranks = {ranks, ranks};
        rule.when.bytes = {1000 - ranks, 1000 + ranks};
        table.rules.push_back(rule);
    }
    return table;
}

TEST(RuleIndex, AnswersAsLookupDoesWhereARuleStandsInManyRangesOfSizes) {
    for (std::uint64_t const rules : {10U, 400U}) {  // below and above most_entries_per_rule
        TuningTable const table = nested_table(rules);
        RuleIndex const index(table);
        Key key;
        for (std::uint64_t ranks = 1; ranks <= rules; ++ranks) {
            key.ranks = ranks;
            for (Bytes const bytes : {999 - ranks, 1000 - ranks, Bytes{1000}, 1000 + ranks, 1001 + ranks}) {
                key.bytes = bytes;
                EXPECT_EQ(index.find(key, "mpi").method, lookup(table, key, "mpi").method)
                    << ranks << " ranks, " << bytes;
            }
        }
    }
}

TEST(RuleIndex, AnswersAQuestionWithoutASize) {
    TuningTable table = sample_table();
    table.rules = {plain_rule("any size", "mpi", TunedOperation::broadcast)};
    Key const key{.operation = TunedOperation::broadcast};
    EXPECT_EQ(RuleIndex(table).find(key, "mpi").method, &table.rules[0]);
    table.rules[0].when.bytes = {0, no_limit};
    EXPECT_FALSE(RuleIndex(table).find(key, "mpi")) << "the rule asks for a size, even if any will do";
}

}  // namespace
}  // namespace dlmb::tuning
