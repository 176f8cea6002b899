// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/run/chooser/table_chooser.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::tuning::table_chooser_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Allreduces up to 1 KiB go to ucx by ring, larger ones to mpi by mpi's own best method, messages on one node to
/// ucx; the rest has no rule.
TuningTable small_table() {
    TuningTable table = sample_table();
    Rule small = plain_rule("small", select_scope, TunedOperation::allreduce);
    small.when.bytes = {0, 1024};
    small.choose = {"ucx", "ring", std::nullopt, {}};
    Rule large = plain_rule("large", select_scope, TunedOperation::allreduce);
    large.when.bytes = {1025, no_limit};
    large.choose = {"mpi", "default", std::nullopt, {}};
    Rule inside = plain_rule("inside", "mpi", TunedOperation::allreduce);
    inside.choose = {"mpi", "algorithm:allreduce=ring", std::nullopt, {}};
    Rule near = plain_rule("near", select_scope, TunedOperation::sendrecv);
    near.when.nodes = {1, 1};
    near.choose = {"ucx", "default", std::nullopt, {}};
    table.rules = {small, large, inside, near};
    table.policy.baseline = {{"host", "mpi"}, {"cuda", "nccl"}};
    return table;
}

Key allreduce(Bytes bytes) {
    return {.operation = TunedOperation::allreduce, .bytes = bytes, .ranks = 4, .nodes = 1, .memory = "host"};
}

TEST(TableChooser, TheTableSelectsTheBackendAndTheScopeOfThatBackendTheMethod) {
    TableChooser const chooser(small_table());
    StepChoice const small = chooser.choose(allreduce(1024));
    EXPECT_EQ(small.backend, "ucx");
    EXPECT_EQ(to_string(small.method), "ring");
    EXPECT_EQ(small.rule, "small");
    StepChoice const large = chooser.choose(allreduce(1025));
    EXPECT_EQ(large.backend, "mpi");
    EXPECT_EQ(to_string(large.method), "algorithm:allreduce=ring");
    EXPECT_EQ(large.rule, "large+inside");
    EXPECT_EQ(large.why_not, "");
}

TEST(TableChooser, WithinABackendItsOwnRulesHoldAlsoWhereTheTableSelectsAnotherOne) {
    TableChooser const chooser(small_table());
    StepChoice const small = chooser.choose_within("mpi", allreduce(1024));
    EXPECT_EQ(small.backend, "mpi");
    EXPECT_EQ(to_string(small.method), "algorithm:allreduce=ring");
    EXPECT_EQ(small.rule, "inside");
    StepChoice const none = chooser.choose_within("nccl", allreduce(1024));
    EXPECT_EQ(none.backend, "nccl");
    EXPECT_EQ(to_string(none.method), "default");
    EXPECT_EQ(none.rule, "");
}

TEST(TableChooser, WithoutARuleTheBaselineOfTheMemoryKindRunsItsDefault) {
    TableChooser const chooser(small_table());
    Key step = allreduce(0);
    step.operation = TunedOperation::broadcast;
    StepChoice const host = chooser.choose(step);
    EXPECT_EQ(host.backend, "mpi");
    EXPECT_EQ(host.method, MethodChoice{});
    EXPECT_EQ(host.rule, "");
    step.memory = "cuda";
    EXPECT_EQ(chooser.choose(step).backend, "nccl");
    step.memory = "managed";
    EXPECT_THAT(chooser.choose(step).why_not, HasSubstr("policy.baseline names no backend for managed memory"));
    EXPECT_EQ(chooser.baseline("cuda").backend, "nccl") << "of what no table has rules for";
}

TEST(TableChooser, WhereNoRuleSelectsABackendTheBaselineRunsByItsOwnRules) {
    TuningTable table = small_table();
    table.rules = {table.rules[2]};
    TableChooser const chooser(table);
    StepChoice const inside = chooser.choose(allreduce(4096));
    EXPECT_EQ(inside.backend, "mpi");
    EXPECT_EQ(to_string(inside.method), "algorithm:allreduce=ring");
    EXPECT_EQ(inside.rule, "inside");
    Key elsewhere = allreduce(4096);
    elsewhere.memory = "cuda";
    EXPECT_EQ(chooser.choose(elsewhere).backend, "nccl");
    EXPECT_EQ(chooser.choose(elsewhere).rule, "");
}

TEST(TableChooser, AMessageIsAskedForByTheNodesOfItsGroup) {
    TableChooser const chooser(small_table());
    Key step{.operation = TunedOperation::sendrecv, .nodes = 1, .memory = "host"};
    EXPECT_EQ(chooser.choose(step).rule, "near");
    step.nodes = 2;
    EXPECT_EQ(chooser.choose(step).rule, "");
}

TEST(TableChooser, EveryTraitReachesItsCondition) {
    TuningTable table = small_table();
    Rule narrow = plain_rule("narrow", select_scope, TunedOperation::exchange);
    narrow.when.bytes = {500, 500};
    narrow.when.ranks = {8, 8};
    narrow.when.nodes = {2, 2};
    narrow.when.memory = "host";
    narrow.when.in_place = false;
    narrow.when.uniform = false;
    narrow.when.imbalance = {1.5, 2.0};
    narrow.choose.backend = "ucx";
    Rule reduce = plain_rule("reduce", select_scope, TunedOperation::reduce_scatter);
    reduce.when.dtype = "bf16";
    reduce.when.reduction = "max";
    reduce.choose.backend = "ucx";
    table.rules = {narrow, reduce};
    TableChooser const chooser(table);
    Key step{.operation = TunedOperation::exchange, .bytes = 500, .ranks = 8, .nodes = 2, .memory = "host"};
    step.in_place = false;
    step.uniform = false;
    step.imbalance = 1.75;
    EXPECT_EQ(chooser.choose(step).rule, "narrow");
    for (auto const& change : std::vector<std::function<void(Key&)>>{
             [](Key& k) { k.bytes = 501; }, [](Key& k) { k.ranks = 9; }, [](Key& k) { k.nodes = 1; },
             [](Key& k) { k.memory = "pinned"; }, [](Key& k) { k.in_place = true; }, [](Key& k) { k.uniform = true; },
             [](Key& k) { k.imbalance = 2.5; }}) {
        Key changed = step;
        change(changed);
        EXPECT_NE(chooser.choose(changed).rule, "narrow");
    }
    Key reduction{.operation = TunedOperation::reduce_scatter,
                  .bytes = 64,
                  .memory = "host",
                  .dtype = "bf16",
                  .reduction = "max"};
    EXPECT_EQ(chooser.choose(reduction).rule, "reduce");
    reduction.reduction = "sum";
    EXPECT_EQ(chooser.choose(reduction).rule, "");
}

TEST(TableChooser, WhatNoMethodSaysIsNotLeftOutInSilence) {
    TuningTable table = small_table();
    table.rules[2].choose.method = "blocking";
    table.rules[2].choose.algorithm = Algorithm{"open_mpi.tuned", "ring", 4};
    EXPECT_THAT(TableChooser(table).choose(allreduce(4096)).why_not, HasSubstr("algorithm:CALL=ring"));
    table = small_table();
    table.rules[0].choose.params.knobs = {{"UCX_RNDV_THRESH", "1024"}};
    EXPECT_THAT(TableChooser(table).choose(allreduce(8)).why_not, HasSubstr("UCX_RNDV_THRESH"));
    table.rules[0].choose.method = "ring:rndv_thresh=1024";
    EXPECT_EQ(TableChooser(table).choose(allreduce(8)).why_not, "") << "the method sets it";
    table.rules[0].choose.method = "ring:rndv_thresh=1K";
    EXPECT_EQ(TableChooser(table).choose(allreduce(8)).why_not, "") << "as many bytes";
    table.rules[0].choose.method = "ring:rndv_thresh=1";
    EXPECT_THAT(TableChooser(table).choose(allreduce(8)).why_not, HasSubstr("contradicts its UCX_RNDV_THRESH"));
    table = small_table();
    table.rules[0].choose.params.channels = 4;
    EXPECT_THAT(TableChooser(table).choose(allreduce(8)).why_not, HasSubstr("tuner plugin"));
    table.rules[0].choose = {
        "nccl", "algorithm:allreduce=ring:protocol=ll:channels=4", Algorithm{"nccl", "ring", 1}, {}};
    table.rules[0].choose.params.protocol = "ll";
    table.rules[0].choose.params.channels = 4;
    EXPECT_EQ(TableChooser(table).choose(allreduce(8)).why_not, "") << "the method has the plugin force it";
    table.rules[0].choose.params.channels = 8;
    EXPECT_THAT(TableChooser(table).choose(allreduce(8)).why_not, HasSubstr("contradicts its channels"));
    table.rules[0].choose.params.channels = 4;
    table.rules[0].choose.params.protocol = "simple";
    EXPECT_THAT(TableChooser(table).choose(allreduce(8)).why_not, HasSubstr("contradicts its protocol"));
    table.rules[0].choose.params.protocol = "ll";
    table.rules[0].choose.algorithm->name = "tree";
    EXPECT_THAT(TableChooser(table).choose(allreduce(8)).why_not, HasSubstr("contradicts its algorithm tree"));
}

TEST(TableChooser, NamesEveryBackendThatItCanAnswer) {
    EXPECT_THAT(TableChooser(small_table()).backends(), ElementsAre("mpi", "nccl", "ucx"));
}

TEST(TableChooser, NamesEveryMethodOfABackendOnce) {
    TuningTable table = small_table();
    table.rules.push_back(plain_rule("again", select_scope, TunedOperation::broadcast));
    table.rules.back().choose = {"ucx", "ring", std::nullopt, {}};
    EXPECT_THAT(TableChooser(table).methods_of("ucx"), ElementsAre(parse_method("ring"), parse_method("default")));
    EXPECT_THAT(TableChooser(table).methods_of("nccl"), IsEmpty());
}

TEST(TableChooser, ItsDigestIsThatOfTheTable) {
    TableChooser const chooser(small_table());
    EXPECT_EQ(chooser.digest().size(), 64U);
    EXPECT_EQ(chooser.digest(), TableChooser(small_table()).digest());
    TuningTable other = small_table();
    other.rules[0].when.bytes->max = 1023;
    EXPECT_NE(chooser.digest(), TableChooser(other).digest());
}

TEST(TableChooser, AMethodThatCannotBeReadIsRefusedWithItsRule) {
    TuningTable table = small_table();
    table.rules[3].choose.method = "pairwise:";
    table.rules[0].choose.method = "ring:fast";
    try {
        TableChooser const chooser(table);
        FAIL() << "was accepted";
    } catch (UsageError const& error) {
        EXPECT_THAT(error.what(), HasSubstr("rule small"));
    }
}

}  // namespace
}  // namespace dlmb::tuning::table_chooser_test
