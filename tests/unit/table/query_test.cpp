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

Key key_of(Bytes bytes) {
    return {.bytes = bytes};
}

TEST(Matching, HoldsFromMinToMaxAndNotOneByteBeyond) {
    for (Bytes const min : boundaries) {
        for (Bytes const max : boundaries) {
            if (min > max) {
                continue;
            }
            When const when = rule_for(ByteInterval{min, max}).when;
            EXPECT_TRUE(matches(when, key_of(min)));
            EXPECT_TRUE(matches(when, key_of(max)));
            EXPECT_FALSE(min > 0 && matches(when, key_of(min - 1))) << min;
            EXPECT_FALSE(max < no_limit && matches(when, key_of(max + 1))) << max;
        }
    }
}

/// One condition and the key that fulfils it, each on its own.
struct Condition {
    char const* name;
    void (*ask)(When&);
    void (*know)(Key&);
    void (*differ)(Key&);
};

Condition const conditions[] = {
    {"bytes",
     [](When& when) {
         when.bytes = {1, 2};
     },
     [](Key& key) { key.bytes = 2; }, [](Key& key) { key.bytes = 3; }},
    {"ranks",
     [](When& when) {
         when.ranks = {4, 8};
     },
     [](Key& key) { key.ranks = 4; }, [](Key& key) { key.ranks = 9; }},
    {"nodes",
     [](When& when) {
         when.nodes = {2, 2};
     },
     [](Key& key) { key.nodes = 2; }, [](Key& key) { key.nodes = 1; }},
    {"dtype", [](When& when) { when.dtype = "fp32"; }, [](Key& key) { key.dtype = "fp32"; },
     [](Key& key) { key.dtype = "fp3"; }},
    {"reduction", [](When& when) { when.reduction = "sum"; }, [](Key& key) { key.reduction = "sum"; },
     [](Key& key) { key.reduction = "max"; }},
    {"memory", [](When& when) { when.memory = "host"; }, [](Key& key) { key.memory = "host"; },
     [](Key& key) { key.memory = "cuda"; }},
    {"in_place", [](When& when) { when.in_place = true; }, [](Key& key) { key.in_place = true; },
     [](Key& key) { key.in_place = false; }},
    {"uniform", [](When& when) { when.uniform = true; }, [](Key& key) { key.uniform = true; },
     [](Key& key) { key.uniform = false; }},
    {"imbalance",
     [](When& when) {
         when.imbalance = {1.0, 1.5};
     },
     [](Key& key) { key.imbalance = 1.5; }, [](Key& key) { key.imbalance = 1.51; }},
};

TEST(Matching, TakesAnUnknownValueForNoConditionAtAll) {
    for (Condition const& condition : conditions) {
        When when;
        Key key;
        EXPECT_TRUE(matches(when, key)) << condition.name;
        condition.ask(when);
        EXPECT_FALSE(matches(when, key)) << condition.name << " is unknown";
        condition.know(key);
        EXPECT_TRUE(matches(when, key)) << condition.name << " is known";
        condition.differ(key);
        EXPECT_FALSE(matches(when, key)) << condition.name << " is another";
    }
}

TEST(Matching, KeepsOperationsApart) {
    Key key;
    key.operation = TunedOperation::broadcast;
    EXPECT_FALSE(matches(rule_for({}).when, key));
}

Key small_allreduce() {
    Key key = key_of(1024);
    key.ranks = 4;
    key.nodes = 1;
    key.memory = "host";
    return key;
}

TEST(Lookup, SelectsABackendAndThenAMethodInside) {
    TuningTable const table = sample_table();
    Match const match = lookup(table, small_allreduce(), "");
    ASSERT_TRUE(match);
    EXPECT_EQ(match.select->id, "r001");
    EXPECT_EQ(match.method->id, "r003");
    EXPECT_EQ(match.deciding()->choose.method, "default");
}

TEST(Lookup, StaysWithTheSelectedBackendWhereThatHasNoRule) {
    TuningTable table = sample_table();
    std::erase_if(table.rules, [](Rule const& rule) { return rule.scope == "ucx"; });
    Match const match = lookup(table, small_allreduce(), "");
    EXPECT_EQ(match.method, nullptr);
    EXPECT_EQ(match.deciding()->choose.backend, "ucx");
}

TEST(Lookup, SkipsSelectWhenTheQuestionNamesABackend) {
    TuningTable const table = sample_table();
    Key key = small_allreduce();
    EXPECT_FALSE(lookup(table, key, "mpi")) << "ucx is selected there, and mpi has no rule for 1 KiB";
    key.bytes = 65536;
    key.dtype = "fp32";
    key.reduction = "sum";
    EXPECT_EQ(lookup(table, key, "mpi").deciding()->choose.algorithm->name, "ring");
}

TEST(Lookup, KeepsTheDefaultOutsideOfWhatWasMeasured) {
    Key key = small_allreduce();
    key.ranks = 5;
    EXPECT_FALSE(lookup(sample_table(), key, ""));
}

}  // namespace
}  // namespace dlmb::tuning
