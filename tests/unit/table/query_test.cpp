// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/query.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

Bytes constexpr boundaries[] = {0, 1, 65536, Bytes{1} << 31, Bytes{1} << 32, Bytes{1} << 63, no_limit};

Rule rule_for(std::optional<ByteInterval> bytes) {
    Rule rule = plain_rule("r", "mpi", TunedOperation::allreduce);
    rule.when.bytes = bytes;
    return rule;
}

Query query_of(Bytes bytes) {
    Query query;
    query.bytes = bytes;
    return query;
}

TEST(Matching, HoldsFromMinToMaxAndNotOneByteBeyond) {
    for (Bytes const min : boundaries) {
        for (Bytes const max : boundaries) {
            if (min > max) {
                continue;
            }
            When const when = rule_for(ByteInterval{min, max}).when;
            EXPECT_TRUE(matches(when, query_of(min)));
            EXPECT_TRUE(matches(when, query_of(max)));
            EXPECT_FALSE(min > 0 && matches(when, query_of(min - 1))) << min;
            EXPECT_FALSE(max < no_limit && matches(when, query_of(max + 1))) << max;
        }
    }
}

/// One condition and the query that fulfils it, each on its own.
struct Condition {
    char const* name;
    void (*ask)(When&);
    void (*know)(Query&);
    void (*differ)(Query&);
};

Condition const conditions[] = {
    {"bytes",
     [](When& when) {
         when.bytes = {1, 2};
     },
     [](Query& query) { query.bytes = 2; }, [](Query& query) { query.bytes = 3; }},
    {"ranks",
     [](When& when) {
         when.ranks = {4, 8};
     },
     [](Query& query) { query.ranks = 4; }, [](Query& query) { query.ranks = 9; }},
    {"nodes",
     [](When& when) {
         when.nodes = {2, 2};
     },
     [](Query& query) { query.nodes = 2; }, [](Query& query) { query.nodes = 1; }},
    {"dtype", [](When& when) { when.dtype = "fp32"; }, [](Query& query) { query.dtype = "fp32"; },
     [](Query& query) { query.dtype = "fp3"; }},
    {"reduction", [](When& when) { when.reduction = "sum"; }, [](Query& query) { query.reduction = "sum"; },
     [](Query& query) { query.reduction = "max"; }},
    {"memory", [](When& when) { when.memory = "host"; }, [](Query& query) { query.memory = "host"; },
     [](Query& query) { query.memory = "cuda"; }},
    {"in_place", [](When& when) { when.in_place = true; }, [](Query& query) { query.in_place = true; },
     [](Query& query) { query.in_place = false; }},
    {"uniform", [](When& when) { when.uniform = true; }, [](Query& query) { query.uniform = true; },
     [](Query& query) { query.uniform = false; }},
    {"imbalance",
     [](When& when) {
         when.imbalance = {1.0, 1.5};
     },
     [](Query& query) { query.imbalance = 1.5; }, [](Query& query) { query.imbalance = 1.51; }},
};

TEST(Matching, TakesAnUnknownValueForNoConditionAtAll) {
    for (Condition const& condition : conditions) {
        When when;
        Query query;
        EXPECT_TRUE(matches(when, query)) << condition.name;
        condition.ask(when);
        EXPECT_FALSE(matches(when, query)) << condition.name << " is unknown";
        condition.know(query);
        EXPECT_TRUE(matches(when, query)) << condition.name << " is known";
        condition.differ(query);
        EXPECT_FALSE(matches(when, query)) << condition.name << " is another";
    }
}

TEST(Matching, KeepsOperationsApart) {
    Query query;
    query.operation = TunedOperation::broadcast;
    EXPECT_FALSE(matches(rule_for({}).when, query));
}

Query small_allreduce() {
    Query query = query_of(1024);
    query.ranks = 4;
    query.nodes = 1;
    query.memory = "host";
    return query;
}

TEST(Lookup, SelectsABackendAndThenAMethodInside) {
    TuningTable const table = sample_table();
    Match const match = lookup(table, small_allreduce());
    ASSERT_TRUE(match);
    EXPECT_EQ(match.select->id, "r001");
    EXPECT_EQ(match.method->id, "r003");
    EXPECT_EQ(match.deciding()->choose.method, "default");
}

TEST(Lookup, StaysWithTheSelectedBackendWhereThatHasNoRule) {
    TuningTable table = sample_table();
    std::erase_if(table.rules, [](Rule const& rule) { return rule.scope == "ucx"; });
    Match const match = lookup(table, small_allreduce());
    EXPECT_EQ(match.method, nullptr);
    EXPECT_EQ(match.deciding()->choose.backend, "ucx");
}

TEST(Lookup, SkipsSelectWhenTheQueryNamesABackend) {
    TuningTable const table = sample_table();
    Query query = small_allreduce();
    query.backend = "mpi";
    EXPECT_FALSE(lookup(table, query)) << "ucx is selected there, and mpi has no rule for 1 KiB";
    query.bytes = 65536;
    query.dtype = "fp32";
    query.reduction = "sum";
    EXPECT_EQ(lookup(table, query).deciding()->choose.algorithm->name, "ring");
}

TEST(Lookup, KeepsTheDefaultOutsideOfWhatWasMeasured) {
    Query query = small_allreduce();
    query.ranks = 5;
    EXPECT_FALSE(lookup(sample_table(), query));
}

}  // namespace
}  // namespace dlmb::tuning
