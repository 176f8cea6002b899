// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"
#include "common/tools/tune/gain/gain.hpp"
#include "tests/unit/tuning_build/made_observations.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

constexpr double exact = 1e-9;

double constant(Bytes /*bytes*/) {
    return 10'000;
}

/// allreduce over 4 ranks: `ring` from 1024 to 4096 bytes, nothing said elsewhere.
TuningTable table_with_ring() {
    Rule rule;
    rule.id = "r001";
    rule.scope = "mpi";
    rule.when.operation = TunedOperation::allreduce;
    rule.when.bytes = ByteInterval{1024, 4096};
    rule.choose = {"mpi", "ring", std::nullopt, {}};
    TuningTable table;
    table.rules = {rule};
    return table;
}

/// Launches that differ by factors, in which methods keep their ratios exactly.
std::vector<Observation> launches_of(Truth const& truth, std::vector<Bytes> const& sizes) {
    return observe_truth(truth, {sizes, 8, 1e-12, 1, 0.5});
}

TEST(MeasuredGains, CompareInsideALaunchHoweverLaunchesDiffer) {
    auto const gains =
        measured_gains(table_with_ring(),
                       launches_of({{"blocking", constant}, {"ring", [](Bytes) { return 8'000.0; }}}, {1536, 6144}));
    ASSERT_EQ(gains.size(), 2U);
    EXPECT_EQ(gains[0].choice, "ring");
    EXPECT_NEAR(gains[0].speedup.estimate, 1.25, exact);
    EXPECT_NEAR(gains[0].regret, 1, exact);
    EXPECT_EQ(gains[0].launches, 8U);
    EXPECT_EQ(gains[1].choice, default_method);
    EXPECT_NEAR(gains[1].speedup.estimate, 1, exact);
    EXPECT_EQ(gains[1].best, "ring");
    EXPECT_NEAR(gains[1].regret, 1.25, exact);
}

TEST(MeasuredGains, AChoiceThatLosesIsASpeedUpBelowOne) {
    auto const gains = measured_gains(
        table_with_ring(), launches_of({{"blocking", constant}, {"ring", [](Bytes) { return 20'000.0; }}}, {1536}));
    EXPECT_NEAR(gains.at(0).speedup.estimate, 0.5, exact);
    EXPECT_EQ(gains.at(0).best, "blocking");
    EXPECT_NEAR(gains.at(0).regret, 2, exact);
}

TEST(MeasuredGains, AMethodOfFewLaunchesIsNotTheBest) {
    auto fresh = launches_of({{"blocking", constant}, {"ring", [](Bytes) { return 8'000.0; }}}, {1536});
    Observation lucky = fresh.front();
    lucky.competitor.method = lucky.choice.method = "lucky";
    lucky.is_default = false;
    lucky.median_ns /= 1000;
    fresh.push_back(lucky);
    EXPECT_EQ(measured_gains(table_with_ring(), fresh).at(0).best, "ring");
}

TEST(MeasuredGains, RefuseAChoiceThatNobodyMeasured) {
    auto const fresh = launches_of({{"blocking", constant}}, {1536});
    EXPECT_THROW((void)measured_gains(table_with_ring(), fresh), UsageError);
}

TEST(MeasuredGains, AreSummedUpByGeometricMeans) {
    std::vector<SizeGain> sizes(2);
    sizes[0].speedup.estimate = 4;
    sizes[0].regret = 1;
    sizes[1].speedup.estimate = 0.25;
    sizes[1].regret = 1.21;
    GainSummary const all = summary_of(sizes);
    EXPECT_NEAR(all.speedup, 1, exact);
    EXPECT_NEAR(all.speedup_least, 0.25, exact);
    EXPECT_NEAR(all.regret, 1.1, exact);
    EXPECT_NEAR(all.regret_most, 1.21, exact);
}

}  // namespace
}  // namespace dlmb::tuning
