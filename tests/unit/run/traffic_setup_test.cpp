// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/validate.hpp"
#include "common/run/traffic_setup.hpp"
#include "patterns/moe_alltoall/moe_alltoall.hpp"
#include "tests/unit/patterns/build_one.hpp"

#include <gtest/gtest.h>

#include <mutex>

namespace dlmb::run {
namespace {

TEST(TrafficSetup, PlansBuiltFromExchangedNotesEqualThoseComputedForAllRanks) {
    PatternType const& type = moe_alltoall::type();
    for (char const* const wire : {"expanded", "rank_dedup", "node_dedup", "padded"}) {
        WorldShape const world{8, 4};
        auto const pattern = type.make(resolve(type, "deepseek-v2-lite", {{"tokens", "64"}, {"wire", wire}}), world);
        std::vector<Plan> exchanged(8);
        std::mutex mutex;
        in_process::run_ranks(8, 4, [&](Bootstrap& bootstrap) {
            Traffic traffic = prepare_traffic(bootstrap, *pattern, type.phases, 7, 2);
            std::lock_guard const lock(mutex);
            exchanged[static_cast<std::size_t>(bootstrap.rank())] = std::move(traffic.plans[1]);
        });
        std::vector<Plan> const computed = build_all(*pattern, world, Draw{7, 1});
        EXPECT_EQ(exchanged, computed) << wire;
        EXPECT_TRUE(validate(exchanged).empty()) << wire;
    }
}

TEST(TrafficSetup, SummariesAreEqualOnAllRanksAndCoverThePhases) {
    PatternType const& type = moe_alltoall::type();
    auto const pattern = type.make(resolve(type, "mixtral-8x7b", {{"tokens", "64"}, {"skew", "balanced"}}), {4, 4});
    in_process::run_ranks(4, [&](Bootstrap& bootstrap) {
        Traffic const traffic = prepare_traffic(bootstrap, *pattern, type.phases, 1, 3);
        ASSERT_EQ(traffic.phases.size(), 3U);
        // dispatch: 64 tokens x 2 experts x 8192 B per rank, a quarter stays; 4 ranks
        EXPECT_EQ(traffic.phases[1].label, "dispatch");
        EXPECT_EQ(traffic.phases[1].traffic.wire_bytes, 4U * 64U * 2U * 8192U * 3U / 4U);
        EXPECT_DOUBLE_EQ(traffic.phases[1].traffic.imbalance_send, 1.0);
    });
}

TEST(TrafficSetup, StatisticsOfWhatMovesStandForEachDraw) {
    PatternType const& type = moe_alltoall::type();
    auto const pattern =
        type.make(resolve(type, "mixtral-8x7b", {{"tokens", "8"}, {"skew", "zipf:2+rotating:1+burst:0.5:1"}}), {2, 2});
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        auto const three = prepare_traffic(bootstrap, *pattern, type.phases, 1, 3).statistics;
        EXPECT_EQ(three.at("shift.draw_2"), 2);
        EXPECT_EQ(three.count("shift"), 0U) << "a mean over draws says nothing";
        EXPECT_EQ(three.count("hot_expert.draw_0"), 1U);
        EXPECT_DOUBLE_EQ(three.at("in_burst") * 3,
                         three.at("in_burst.draw_0") + three.at("in_burst.draw_1") + three.at("in_burst.draw_2"));
        EXPECT_EQ(three.count("rows_total.draw_0"), 0U);
        auto const one = prepare_traffic(bootstrap, *pattern, type.phases, 1, 1).statistics;
        EXPECT_EQ(one.at("shift"), 0);
        EXPECT_EQ(one.count("shift.draw_0"), 0U);
    });
}

/// Rank 0 has a phase of its own, as the first stage of a pipeline.
class UnequalRanks final : public Pattern {
public:
    [[nodiscard]] RankSetup setup_of(Rank /*source*/, Draw /*draw*/) const override { return {}; }
    [[nodiscard]] Plan build(Rank me, Draw /*draw*/, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        PlanBuilder builder(me);
        if (me == 0) {
            builder.all_reduce(builder.group({{0}}), 8, Element::fp32, Reduction::sum, "first");
        }
        builder.all_reduce(builder.group({{0, 1}}), 8, Element::fp32, Reduction::sum, "both");
        return std::move(builder).finish();
    }
    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        return {};
    }
    [[nodiscard]] std::vector<OperationUse> operations() const override { return {{OperationKind::all_reduce}}; }
};

TEST(TrafficSetup, PhasesThatSomeRanksLackAreSummedOnAll) {
    constexpr std::string_view phases[] = {"first", "both", "nobody's"};
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        Traffic const traffic = prepare_traffic(bootstrap, UnequalRanks{}, phases, 1, 1);
        ASSERT_EQ(traffic.phases.size(), 2U);
        EXPECT_EQ(traffic.phases[0].label, "first");
        EXPECT_EQ(traffic.phases[0].traffic.payload_bytes, 8U);
        EXPECT_EQ(traffic.phases[1].label, "both");
        EXPECT_EQ(traffic.phases[1].traffic.payload_bytes, 16U);
    });
}

/// Iterations of a folder of plans have their own steps.
class UnequalDraws final : public Pattern {
public:
    [[nodiscard]] RankSetup setup_of(Rank /*source*/, Draw /*draw*/) const override { return {}; }
    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& /*own*/,
                             std::span<SetupCounts const> /*received_counts*/) const override {
        PlanBuilder builder(me);
        builder.compute(draw.index == 0 ? 1000 : 5000, "work");
        builder.all_reduce(builder.group({{0, 1}}), 8, Element::fp32, Reduction::sum, draw.index == 0 ? "even" : "odd");
        return std::move(builder).finish();
    }
    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> /*summed*/) const override {
        return {};
    }
    [[nodiscard]] std::vector<OperationUse> operations() const override { return {{OperationKind::all_reduce}}; }
};

TEST(TrafficSetup, APhaseIsTheMeanOverTheDrawsThatHaveIt) {
    in_process::run_ranks(2, [&](Bootstrap& bootstrap) {
        Traffic const traffic = prepare_traffic(bootstrap, UnequalDraws{}, {}, 1, 2);
        std::map<std::string, Bytes> bytes;
        for (auto const& phase : traffic.phases) {
            bytes[phase.label] = phase.traffic.payload_bytes;
        }
        EXPECT_EQ(bytes["even"], 16U);
        EXPECT_EQ(bytes["odd"], 16U);
        EXPECT_DOUBLE_EQ(traffic.statistics.at("compute_us"), 3);
    });
}

}  // namespace
}  // namespace dlmb::run
