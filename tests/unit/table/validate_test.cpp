// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/table.hpp"
#include "tests/unit/table/sample_table.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dlmb::tuning {
namespace {

/// Path of the only problem of a table with these rules; all of them if there are more.
std::string only_problem(std::vector<Rule> rules) {
    TuningTable table = sample_table();
    table.rules = std::move(rules);
    std::string paths;
    for (TableProblem const& problem : validate(table)) {
        paths += (paths.empty() ? "" : " and ") + problem.path;
        EXPECT_FALSE(problem.what.empty());
    }
    return paths;
}

template <class Change>
std::string problem_after(TunedOperation operation, Change change) {
    Rule rule = plain_rule("r", "mpi", operation);
    change(rule);
    return only_problem({rule});
}

Rule sized(std::string id, Bytes min, Bytes max) {
    Rule rule = plain_rule(std::move(id), "mpi", TunedOperation::allreduce);
    rule.when.bytes = {min, max};
    return rule;
}

TEST(Validate, FindsNothingInTheSampleTable) {
    EXPECT_EQ(validate(sample_table()), std::vector<TableProblem>{});
}

TEST(Validate, RefusesMinAboveMax) {
    using enum TunedOperation;
    EXPECT_EQ(only_problem({sized("r", 2, 1)}), "rules[0].when.bytes");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.ranks = {8, 4}; }), "rules[0].when.ranks");
    EXPECT_EQ(problem_after(exchange, [](Rule& rule) { rule.when.imbalance = {2, 1}; }), "rules[0].when.imbalance");
    double const nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(problem_after(exchange, [&](Rule& rule) { rule.when.imbalance = {1, nan}; }), "rules[0].when.imbalance");
}

TEST(Validate, RefusesCountsThatNothingHas) {
    using enum TunedOperation;
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.ranks = {0, 4}; }), "rules[0].when.ranks");
    EXPECT_EQ(problem_after(exchange, [](Rule& rule) { rule.when.imbalance = {0.5, 4}; }), "rules[0].when.imbalance");
}

TEST(Validate, RefusesRulesThatOneOperationCanMatchBoth) {
    EXPECT_EQ(only_problem({sized("a", 0, 10), sized("b", 11, 20)}), "");
    EXPECT_EQ(only_problem({sized("a", 0, 10), sized("b", 10, 20)}), "rules[1]");
    Rule host = sized("b", 5, 30);
    host.when.memory = "host";
    EXPECT_EQ(only_problem({sized("a", 0, 10), host}), "rules[1]") << "any memory is host memory, too";
    Rule other = sized("b", 5, 30);
    other.scope = other.choose.backend = "ucx";
    EXPECT_EQ(only_problem({sized("a", 0, 10), other}), "");
}

TEST(Validate, CallsARuleDeadThatAnEarlierOneCovers) {
    TuningTable table = sample_table();
    table.rules = {sized("a", 0, 10), sized("b", 3, 5)};
    std::vector<TableProblem> const problems = validate(table);
    ASSERT_EQ(problems.size(), 1);
    EXPECT_NE(problems[0].what.find("'b' is dead"), std::string::npos) << problems[0].what;
}

TEST(Validate, RefusesConditionsThatAnOperationNeverFulfils) {
    using enum TunedOperation;
    EXPECT_EQ(problem_after(allgather, [](Rule& rule) { rule.when.reduction = "sum"; }), "rules[0].when.reduction");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.uniform = true; }), "rules[0].when.uniform");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.imbalance = {1, 2}; }), "rules[0].when.imbalance");
    EXPECT_EQ(problem_after(allreduce,
                            [](Rule& rule) {
                                rule.when.ranks = {1, 3};
                                rule.when.nodes = {4, 8};
                            }),
              "rules[0].when");
}

TEST(Validate, RefusesUnknownWords) {
    using enum TunedOperation;
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.dtype = "float32"; }), "rules[0].when.dtype");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.memory = "gpu"; }), "rules[0].when.memory");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.when.reduction = "mean"; }), "rules[0].when.reduction");
}

TEST(Validate, RefusesARuleForMemoryOfNoDevice) {
    TuningTable table = sample_table();
    table.system.gpu.clear();
    ASSERT_EQ(validate(table).size(), 1);
    EXPECT_NE(validate(table)[0].path.find("when.memory"), std::string::npos);
    for (Rule& rule : table.rules) {
        rule.when.memory = rule.when.memory.empty() || rule.when.memory == "host" ? rule.when.memory : "ucx";
    }
    EXPECT_TRUE(validate(table).empty()) << "memory of UCX is that of the host";
}

TEST(Validate, RefusesAnEmptySystemKeyAndIdsThatAreNotUnique) {
    TuningTable table = sample_table();
    table.system.key.clear();
    EXPECT_EQ(validate(table)[0].path, "system.key");
    EXPECT_EQ(only_problem({sized("a", 0, 1), sized("a", 2, 3)}), "rules[1].id");
    EXPECT_EQ(only_problem({sized("", 0, 1)}), "rules[0].id");
}

TEST(Validate, RefusesAChoiceThatContradictsItsScopeOrStatus) {
    using enum TunedOperation;
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.choose.backend = "ucx"; }), "rules[0].choose.backend");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.choose.backend.clear(); }), "rules[0].choose.backend");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.choose.method.clear(); }), "rules[0].choose.method");
    EXPECT_EQ(problem_after(allreduce,
                            [](Rule& rule) {
                                rule.status = RuleStatus::no_gain;
                                rule.choose.method = "blocking";
                            }),
              "rules[0].choose");
}

TEST(Validate, RefusesACandidateWhereNothingIsOpenAndNoneWhereItIs) {
    using enum TunedOperation;
    Candidate const ring{{"mpi", "ring", std::nullopt, {}}, 0.2, 0.1, 0.3};
    EXPECT_EQ(problem_after(allreduce, [&](Rule& rule) { rule.candidate = ring; }), "rules[0].candidate");
    EXPECT_EQ(problem_after(allreduce, [](Rule& rule) { rule.status = RuleStatus::undecided; }), "rules[0].candidate");
    auto const open = [&](Rule& rule) {
        rule.status = RuleStatus::unconfirmed;
        rule.candidate = ring;
    };
    EXPECT_EQ(problem_after(allreduce, open), "");
    EXPECT_EQ(problem_after(allreduce,
                            [&](Rule& rule) {
                                open(rule);
                                rule.candidate->gain_low = 0.4;
                            }),
              "rules[0].candidate.ci");
    EXPECT_EQ(problem_after(allreduce,
                            [&](Rule& rule) {
                                open(rule);
                                rule.candidate->choose.method = default_method;
                            }),
              "rules[0].candidate.choose");
}

TEST(Validate, RefusesToClaimMoreThanWasMeasured) {
    Rule rule = sized("a", 0, 100);
    rule.evidence = Evidence{{50}, 100, 8, 8, 90, std::nullopt, 100, 0.1, 0.05, 0.15};
    EXPECT_EQ(only_problem({rule}), "");
    rule.when.bytes->max = no_limit;
    EXPECT_EQ(only_problem({rule}), "rules[0].when.bytes");
    rule.when.bytes = {60, 100};
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.sizes");
    rule.when.bytes = {0, 100};
    rule.evidence->gain_low = 0.5;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.ci");
    rule.evidence->gain_low = 0.05;
    rule.evidence->default_ns = 0;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.median_ns");
    rule.evidence->default_ns = 88;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.median_ns") << "slower than the default";
    rule.evidence->default_ns = 93;
    rule.evidence->gain_low = 0.099;
    rule.evidence->gain_high = 0.101;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.gain") << "the times say 0.03";
    rule.evidence->default_ns = 150;
    EXPECT_EQ(only_problem({rule}), "") << "they say more";
    rule.evidence->default_ns = 100;
    rule.evidence->gain_low = 0.05;
    rule.evidence->gain_high = 0.15;
    rule.evidence->gain = 0.17;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.gain") << "outside of the interval";
    rule.evidence->gain = 0.1;
    rule.evidence->confirmed = 0;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.confirmed") << "nobody confirmed it";
    rule.evidence->confirmed = 8;
    rule.evidence->foreign = Foreign{"pico", "median"};
    rule.evidence->confirmed = 8;
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.confirmed");
    rule.evidence->foreign.reset();
    rule.evidence->predicted = Predicted{64, 0.2};
    EXPECT_EQ(only_problem({rule}), "rules[0].evidence.predicted") << "nothing of it was measured, or confirmed";
}

}  // namespace
}  // namespace dlmb::tuning
