// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/diagnosis/rank_log.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

constexpr std::uint64_t many = 100;
constexpr double headline = 3000;

/// Sends all that it has at once.
RankTimings timings(double posted_ns, double waited_ns, double posted_spread_ns, double done_spread_ns) {
    RankTimings rank;
    rank.posted_ns = posted_ns;
    rank.waited_ns = waited_ns;
    rank.posted_spread_ns = posted_spread_ns;
    rank.done_spread_ns = done_spread_ns;
    rank.sent_bytes = rank.posted_bytes = 4096;
    return rank;
}

/// Four ranks that do the same, evenly.
std::vector<RankTimings> even() {
    return std::vector<RankTimings>(4, timings(100, 2800, 20, 200));
}

std::vector<record::Suspect> suspects(std::vector<RankTimings> const& ranks, std::uint64_t samples = many) {
    return find_suspects(ranks, headline, samples);
}

TEST(Suspects, EvenRanksAreNone) {
    EXPECT_TRUE(suspects(even()).empty());
    EXPECT_TRUE(suspects({timings(2000, 0, 9000, 9000)}).empty());  // alone
}

TEST(Suspects, ARankThatLaunchesLaterByHalfOfTheHeadlineIsDelayed) {
    std::vector<RankTimings> ranks = even();
    ranks[2].posted_ns = 1600;
    EXPECT_TRUE(suspects(ranks).empty());
    ranks[2].posted_ns = 1601;
    std::vector<record::Suspect> const found = suspects(ranks);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rank, 2);
    EXPECT_EQ(found[0].kind, record::Suspect::Kind::delayed);
    EXPECT_EQ(found[0].ns, 1601);
    EXPECT_EQ(found[0].others_ns, 100);
    EXPECT_EQ(suspects(ranks, 5).size(), 1U);
    EXPECT_TRUE(suspects(ranks, 4).empty());
}

TEST(Suspects, NobodyIsDelayedForWhomNobodyWaits) {
    std::vector<RankTimings> ranks = even();
    ranks[2].posted_ns = 2100;
    for (RankTimings& rank : ranks) {
        rank.waited_ns = 1500;
    }
    EXPECT_TRUE(suspects(ranks).empty());
    ranks[1].waited_ns = 1600;  // its neighbour in a ring
    EXPECT_EQ(suspects(ranks).size(), 1U);
}

TEST(Suspects, WhereLaunchingIsMuchOfTheWorkThreefoldIsNeeded) {
    std::vector<RankTimings> ranks(4, timings(800, 2800, 0, 0));
    ranks[0].posted_ns = 2400;
    EXPECT_TRUE(suspects(ranks).empty());
    ranks[0].posted_ns = 2401;
    EXPECT_EQ(suspects(ranks).size(), 1U);
}

TEST(Suspects, LessThanAMicrosecondIsNothing) {
    std::vector<RankTimings> ranks = even();
    ranks[0].posted_ns = 1100;
    EXPECT_TRUE(find_suspects(ranks, 1200, many).empty());
    ranks[0].posted_ns = 1101;
    EXPECT_EQ(find_suspects(ranks, 1200, many).size(), 1U);
}

TEST(Suspects, SendingMoreIsNoDelay) {
    std::vector<RankTimings> ranks = even();
    ranks[0].posted_ns = 2000;
    ranks[0].posted_bytes = 4096 / 0.89;
    EXPECT_TRUE(suspects(ranks).empty());
    ranks[0].posted_bytes = 4096 / 0.91;
    EXPECT_EQ(suspects(ranks).size(), 1U);
    ranks[0].sent_bytes = 1e6;  // behind other steps: not posted yet
    EXPECT_EQ(suspects(ranks).size(), 1U);
}

TEST(Suspects, OfStepsBehindOneAnotherOnlyTheFirstIsSeenAndEachIsTakenToBeAsLate) {
    constexpr double of_three_steps = 12000;
    std::vector<RankTimings> ranks = even();
    ranks[2].posted_ns = 2101;
    EXPECT_TRUE(find_suspects(ranks, of_three_steps, many).empty());
    ranks[0].steps_in_turn = 3;
    std::vector<record::Suspect> const found = find_suspects(ranks, of_three_steps, many);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rank, 2);
    ranks[2].posted_ns = 2100;
    EXPECT_TRUE(find_suspects(ranks, of_three_steps, many).empty());
}

TEST(Suspects, WhereOneLaunchBlocksLaunchesSayNothing) {
    std::vector<RankTimings> ranks = even();
    ranks[2].posted_ns = 2000;
    ranks[1].posted_spread_ns = ranks[0].done_spread_ns = 4000;
    ASSERT_EQ(suspects(ranks).size(), 2U);
    ranks[3].launch_blocks = 1;
    EXPECT_TRUE(suspects(ranks).empty());
    ranks[0].done_spread_ns = 9000;
    ASSERT_EQ(suspects(ranks).size(), 1U);
    EXPECT_EQ(suspects(ranks)[0].rank, 0);
}

TEST(Suspects, UnevenLaunchesThatSpreadTheDurationsOfTheOthersAreJitter) {
    std::vector<RankTimings> ranks = even();
    ranks[1].posted_spread_ns = 3021;
    EXPECT_TRUE(suspects(ranks).empty());
    ranks[0].done_spread_ns = ranks[2].done_spread_ns = 2500;
    std::vector<record::Suspect> const found = suspects(ranks, 20);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rank, 1);
    EXPECT_EQ(found[0].kind, record::Suspect::Kind::jittery);
    EXPECT_EQ(found[0].ns, 3021);
    EXPECT_EQ(found[0].others_ns, 20);
    EXPECT_TRUE(suspects(ranks, 19).empty());
}

TEST(Suspects, UnevenDurationsAreJitterWhereNoLaunchExplainsThem) {
    std::vector<RankTimings> ranks = even();
    ranks[3].done_spread_ns = 9300;
    ASSERT_EQ(suspects(ranks).size(), 1U);
    EXPECT_EQ(suspects(ranks)[0].rank, 3);
    ranks[0].posted_spread_ns = 9200;  // for which rank 3 waited
    ASSERT_EQ(suspects(ranks).size(), 1U);
    EXPECT_EQ(suspects(ranks)[0].rank, 0);
}

TEST(Suspects, TheHeavierChargeAgainstARankCounts) {
    std::vector<RankTimings> ranks(4, timings(100, 9000, 20, 9000));
    ranks[1] = timings(4000, 0, 3500, 9000);
    ranks[3] = timings(2500, 0, 4500, 9000);
    std::vector<record::Suspect> const found = suspects(ranks);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].kind, record::Suspect::Kind::delayed);
    EXPECT_EQ(found[1].kind, record::Suspect::Kind::jittery);
}

TEST(Suspects, OfTwoRanksOneCanBe) {
    std::vector<RankTimings> ranks(2, timings(100, 2800, 20, 200));
    ranks[1].posted_ns = 2000;
    ASSERT_EQ(suspects(ranks).size(), 1U);
    EXPECT_EQ(suspects(ranks)[0].rank, 1);
}

TEST(SpreadOverDraws, DrawsThatDifferAreNoSpread) {
    std::vector<Nanoseconds> times;
    for (Nanoseconds i = 0; i < 40; ++i) {
        times.push_back(i % 2 == 0 ? 100 : 900);
    }
    EXPECT_EQ(spread_over_draws(times, 2), 0);
    EXPECT_EQ(spread_over_draws(times, 1), 800);
    for (std::size_t i = 0; i < times.size(); i += 8) {
        times[i] += 50;  // an eighth of the samples
    }
    EXPECT_EQ(spread_over_draws(times, 2), 50);
    EXPECT_EQ(spread_over_draws(std::vector<Nanoseconds>{7}, 3), 0);
}

}  // namespace
}  // namespace dlmb::measure
