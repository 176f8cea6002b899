// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/tune/gain/gain.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

Rule rule_of(std::string id, ByteInterval bytes, double default_ns, double gain) {
    Rule rule;
    rule.id = std::move(id);
    rule.scope = "mpi";
    rule.when.operation = TunedOperation::allreduce;
    rule.when.bytes = bytes;
    rule.when.memory = "host";
    rule.choose = {"mpi", "ring", std::nullopt, {}};
    rule.evidence = Evidence{};
    rule.evidence->default_ns = default_ns;
    rule.evidence->gain = gain;
    return rule;
}

TuningTable small_and_large() {
    TuningTable table;
    table.rules = {rule_of("r001", {8, 1024}, 10, 0.25), rule_of("r002", {1025, 65536}, 100, 0.5)};
    return table;
}

Demand allreduce(Bytes bytes) {
    return {{TunedOperation::allreduce, 4, 1, "", "fp32", "sum", false, std::nullopt}, bytes};
}

TEST(ExpectedGain, WeighsEachSizeByHowOftenItOccurs) {
    TuningTable const table = small_and_large();
    ExpectedGain const gain = expected_gain(table, {{allreduce(512), 30}, {allreduce(2048), 1}}, "mpi", "host");
    EXPECT_EQ(gain.default_ns, 400);  // 30 * 10 + 1 * 100
    EXPECT_EQ(gain.saved_ns, 125);    // 30 * 2.5 + 1 * 50
    EXPECT_EQ(gain.covered, 31);
    EXPECT_EQ(gain.uncovered, 0);
    EXPECT_TRUE(searches(gain, "mpi").empty());
    ASSERT_EQ(gain.steps.size(), 2U);
    EXPECT_EQ(gain.steps[0].rule->id, "r001");
}

TEST(ExpectedGain, CountsWhatTheTableDoesNotKnow) {
    TuningTable table = small_and_large();
    ExpectedGain const larger = expected_gain(table, {{allreduce(1 << 20), 3}}, "mpi", "host");
    EXPECT_EQ(larger.uncovered, 3);
    EXPECT_EQ(larger.default_ns, 0);
    EXPECT_EQ(larger.steps.at(0).rule, nullptr);
    EXPECT_EQ(searches(larger, "mpi").at(0).bytes, (std::vector<Bytes>{1 << 20}));
    EXPECT_EQ(expected_gain(table, {{allreduce(512), 2}}, "mpi", "cuda").uncovered, 2);
    EXPECT_EQ(expected_gain(table, {{allreduce(512), 2}}, "ucx", "host").uncovered, 2);
    table.rules[0].evidence.reset();  // as a person writes it
    EXPECT_EQ(expected_gain(table, {{allreduce(512), 2}}, "mpi", "host").uncovered, 2);
}

}  // namespace
}  // namespace dlmb::tuning
