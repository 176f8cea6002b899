// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a slice leaves of a table, what is lost on the way, and how it is reported.
#include "common/base/error.hpp"
#include "common/tools/tune/exporters/select_rules.hpp"
#include "tests/unit/tuning_export/open_mpi_names.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning::selection_test {
namespace {

Rule ring(CountInterval ranks = {4, 4}, ByteInterval bytes = {0, 65536}) {
    return make_rule(open_mpi_shape(), TunedOperation::allreduce, "ring", ranks, bytes);
}

Rule ragged(std::string id, ByteInterval bytes, std::string const& algorithm) {
    Rule rule = make_rule(open_mpi_shape(), TunedOperation::exchange, algorithm, {4, 4}, bytes);
    rule.id = std::move(id);
    rule.when.uniform = false;
    return rule;
}

std::vector<Lost> lost_of(std::vector<Rule> rules, Slice const& slice = {{}, "host", "", ""}) {
    TuningTable table;
    table.rules = std::move(rules);
    return to_open_mpi(table, slice, {"4.1.4"}, true).lost;
}

TEST(Selection, LosesEveryConditionThatTheFormatDoesNotHave) {
    std::vector<void (*)(When&)> const conditions{[](When& when) { when.in_place = true; },
                                                  [](When& when) {
                                                      when.imbalance = {1.0, 2.0};
                                                  }};
    for (auto const& set : conditions) {
        Rule rule = ring();
        set(rule.when);
        auto const lost = lost_of({rule});
        ASSERT_EQ(lost.size(), 1U);
        EXPECT_EQ(lost[0].why, LostReason::key_not_expressible) << lost[0].detail;
    }
}

TEST(Selection, TakesRulesOfCallsOutOfPlaceForAllCalls) {
    Rule rule = ring();
    rule.when.in_place = false;
    EXPECT_TRUE(lost_of({rule}).empty());
}

TEST(Selection, LosesWhatIsNotInTheSlice) {
    Rule rule = ring();
    rule.when.dtype = "bf16";
    EXPECT_EQ(lost_of({rule}).at(0).why, LostReason::other_slice);
    EXPECT_TRUE(lost_of({rule}, {{}, "host", "bf16", ""}).empty());
    rule.when.nodes = CountInterval{2, 4};
    EXPECT_EQ(lost_of({rule}, {1, "host", "bf16", ""}).at(0).why, LostReason::other_slice);
    EXPECT_TRUE(lost_of({rule}, {3, "host", "bf16", ""}).empty());
}

TEST(Selection, LosesWhatAnotherBackendDoesBetter) {
    Rule select = ring();
    select.scope = select_scope;
    select.choose = {"ucx", "ring", {}, {}};
    EXPECT_EQ(lost_of({select}).at(0).why, LostReason::other_backend);
    Rule other = select;
    other.scope = "ucx";
    EXPECT_TRUE(lost_of({other}).empty()) << "how ucx does it is not for MPI to know";
}

TEST(Selection, LosesWhatAnotherBackendDoesInAnotherSliceToThatSlice) {
    Rule select = ring();
    select.scope = select_scope;
    select.choose = {"ucx", default_method, {}, {}};
    select.when.in_place = true;
    select.when.nodes = CountInterval{2, 4};
    EXPECT_EQ(lost_of({select}, {{}, "cuda", "", ""}).at(0).why, LostReason::other_slice);
    EXPECT_EQ(lost_of({select}, {1, "host", "", ""}).at(0).why, LostReason::other_slice);
    EXPECT_EQ(lost_of({select}, {3, "host", "", ""}).at(0).why, LostReason::other_backend);
    EXPECT_EQ(lost_of({select}, {}).at(0).why, LostReason::other_backend) << "nobody says another slice";
}

TEST(Selection, LosesNothingWhereTheDefaultStays) {
    Rule rule = ring();
    rule.choose = {"mpi", default_method, {}, {}};
    rule.when.in_place = true;
    EXPECT_TRUE(lost_of({rule}).empty());
}

TEST(Selection, TakesOneChoiceForRaggedExchangesIfItNeverLoses) {
    Rule tie = ragged("r1", {65537, 131072}, "");
    tie.status = RuleStatus::tie;
    Rule no_gain = tie;
    no_gain.status = RuleStatus::no_gain;
    TuningTable table;
    auto const exported = [&](std::vector<Rule> rules) {
        table.rules = std::move(rules);
        Export const made = to_open_mpi(table, {{}, "host", "", ""}, {"4.1.4"});
        for (Lost const& lost : made.lost) {
            EXPECT_EQ(lost.why, LostReason::size_ignored);
        }
        EXPECT_EQ(made.lost.size(), made.lost.empty() ? 0U : table.rules[1].choose.algorithm ? 2U : 1U);
        return made.files.at(0).text.find("0 2 0 0") != std::string::npos;  // pairwise from 0 bytes on
    };
    EXPECT_TRUE(exported({ragged("r0", {0, 65536}, "pairwise"), tie}));
    EXPECT_FALSE(exported({ragged("r0", {0, 65536}, "pairwise"), no_gain}));
    EXPECT_FALSE(exported({ragged("r0", {0, 65536}, "pairwise"), ragged("r1", {65537, 131072}, "basic_linear")}));
}

TEST(Selection, OneChoiceForEveryImbalanceIsExportedAndSaysSo) {
    auto const uneven = [](std::string id, RatioInterval imbalance, std::string const& algorithm) {
        Rule rule = ragged(std::move(id), {0, no_limit}, algorithm);
        rule.when.imbalance = imbalance;
        return rule;
    };
    auto const alike = lost_of({uneven("r0", {1, 1.4}, "pairwise"), uneven("r1", {2, 2.8}, "pairwise")});
    ASSERT_EQ(alike.size(), 2U);
    EXPECT_EQ(alike[0].why, LostReason::size_ignored);
    EXPECT_NE(alike[0].detail.find("holds for others than were measured"), std::string::npos) << alike[0].detail;
    auto const different = lost_of({uneven("r0", {1, 1.4}, "pairwise"), uneven("r1", {2, 2.8}, "basic_linear")});
    ASSERT_EQ(different.size(), 2U);
    EXPECT_NE(different[0].detail.find("no one choice is best"), std::string::npos) << different[0].detail;
}

TEST(Slice, IsCompletedByTheOnlyValueThatRulesName) {
    TuningTable table;
    table.rules = {ring(), ring()};
    table.rules[1].when.dtype = "bf16";
    EXPECT_EQ(complete({}, table, "mpi", {}), (Slice{{}, "host", "bf16", ""}));
    table.rules[0].when.dtype = "fp32";
    EXPECT_THROW((void)complete({}, table, "mpi", {}), UsageError);
    EXPECT_EQ(complete({{}, "", "fp32", ""}, table, "mpi", {}).dtype, "fp32");
    EXPECT_EQ(complete({}, table, "ucx", {}), Slice{}) << "rules of other backends do not count";
}

TEST(Slice, LeavesOpenWhatTheFormatDistinguishesUnlessItIsSaid) {
    TuningTable table;
    table.rules = {ring(), ring()};
    table.rules[0].when.nodes = CountInterval{1, 1};
    table.rules[1].when.nodes = CountInterval{2, 2};
    EXPECT_THROW((void)complete({}, table, "mpi", {}), UsageError);
    DistinguishedKeys const keys{.nodes = true};
    EXPECT_EQ(select_rules(table, "mpi", complete({}, table, "mpi", keys), keys).rules.size(), 2U);
    EXPECT_EQ(select_rules(table, "mpi", complete({2, "", "", ""}, table, "mpi", keys), keys).rules.size(), 1U);
    table.rules[0].when.memory = "cuda";
    EXPECT_EQ(select_rules(table, "mpi", {}, {.memory = true, .nodes = true}).rules.size(), 2U);
    EXPECT_EQ(select_rules(table, "mpi", {{}, "host", "", ""}, {.memory = true, .nodes = true}).rules.size(), 1U);
}

TEST(Slice, IsOfWordsThatTablesHave) {
    for (Slice const& unknown : {Slice{{}, "hosst", "", ""}, Slice{{}, "", "float", ""}, Slice{{}, "", "", "mean"}}) {
        EXPECT_THROW((void)complete(unknown, {}, "mpi", {}), UsageError);
    }
}

TEST(LostList, IsWrittenOnePerLine) {
    EXPECT_EQ(to_json(std::vector<Lost>{}), "[]\n");
    EXPECT_EQ(to_json({{"r1", LostReason::size_ignored, "a \"b\""}}),
              "[\n {\"rule\":\"r1\",\"why\":\"size_ignored\",\"detail\":\"a \\\"b\\\"\"}\n]\n");
}

TEST(SizesPerRank, HoldExactlyTheSizesWhoseMultipleLiesInTheRange) {
    for (std::uint64_t const n : {1U, 2U, 3U, 4U, 7U, 8U, 64U}) {
        for (ByteInterval const bytes : {ByteInterval{0, 0}, ByteInterval{1, 1000}, ByteInterval{999, 1001},
                                         ByteInterval{65536, 65537}, ByteInterval{63, 64}}) {
            auto const shares = per_rank(bytes, n);
            for (Bytes share = 0; share <= bytes.max + 1; ++share) {
                EXPECT_EQ(shares && shares->contains(share), bytes.contains(share * n)) << share << " by " << n;
            }
        }
    }
    EXPECT_EQ(per_rank({0, no_limit}, 2)->max, no_limit / 2);
    EXPECT_THROW((void)per_rank({0, 1}, 0), UsageError);
}

}  // namespace
}  // namespace dlmb::tuning::selection_test
