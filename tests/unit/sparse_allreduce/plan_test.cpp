// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/traffic.hpp"
#include "tests/unit/sparse_allreduce/sparse_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::sparse_allreduce {
namespace {

using ::testing::ElementsAre;

constexpr char const* every_algorithm[] = {"dense", "topk_allgather", "gtopk", "recursive_sparse", "oktopk"};

std::vector<Plan> plans(int ranks, Draw draw, Parameters const& parameters) {
    return build_all(*make_pattern(type(), "", parameters, {ranks, ranks}), {ranks, ranks}, draw);
}

TEST(SparsePlans, HoldTogetherForEveryAlgorithmAndNumberOfRanks) {
    for (char const* const algorithm : every_algorithm) {
        for (int const ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16}) {
            for (std::uint32_t const draw : {0U, 1U}) {
                Parameters const parameters{
                    {"algorithm", algorithm}, {"elements", "5000"}, {"k", "40"}, {"balance-above", "1"}};
                EXPECT_EQ(problem_of(plans(ranks, {1, draw}, parameters)), "") << algorithm << ' ' << ranks;
            }
        }
    }
}

TEST(SparsePlans, HoldTogetherWhereMostPartsAreEmpty) {
    for (char const* const no_balance : {"off", "on"}) {
        Parameters const parameters{{"elements", "50"}, {"k", "1"}, {"no-balance", no_balance}};
        for (std::uint32_t draw = 0; draw < 20; ++draw) {
            EXPECT_EQ(problem_of(plans(8, {1, draw}, parameters)), "");
        }
    }
}

TEST(SparsePlans, OktopkSplitsInBucketsAndGathers) {
    Parameters const parameters = skewed({{"select-us", "5"}, {"estimate-us", "7"}});
    auto const pattern = make_pattern(type(), "", parameters, {6, 6});
    EXPECT_THAT(labels(build_one(*pattern, 2, {1, 0})),
                ElementsAre("threshold.local", "select", "boundaries", "split.sizes", "split.1", "split.1", "split.2",
                            "split.2", "split.3", "split.3", "split.4", "split.4", "split.5", "split.5",
                            "threshold.sizes", "threshold.values", "gather.sizes", "gather"));
    Plan const later = build_one(*pattern, 2, {1, 1});
    EXPECT_THAT(labels(later),
                ElementsAre("select", "split.sizes", "split.1", "split.1", "split.2", "split.2", "split.3", "split.3",
                            "split.4", "split.4", "split.5", "split.5", "gather.sizes", "gather"));
    EXPECT_EQ(std::get<Compute>(later.steps[0].operation).busy_ns, 5000);
    // The first three distances are one batch, the fourth and fifth the next one, which waits for it.
    EXPECT_EQ(std::get<Send>(later.steps[2].operation).batch, std::get<Recv>(later.steps[7].operation).batch);
    EXPECT_THAT(later.steps[8].after, ElementsAre(2, 3, 4, 5, 6, 7));
}

// On 6 ranks two hand theirs over and are handed the result, by a rank that is the busiest one.
TEST(SparsePlans, TheWordsOfTheBusiestRankAreThoseThatItSends) {
    Parameters const parameters{{"algorithm", "recursive_sparse"}, {"elements", "20000"}, {"k", "200"}};
    Bytes most = 0;
    for (Plan const& plan : plans(6, {1, 0}, parameters)) {
        most = std::max(most, traffic_of(plan).out);
    }
    EXPECT_EQ(statistics_of(6, {1, 0}, parameters).at("words_per_rank_max"), static_cast<double>(most) / 4);
}

bool announces(Step const& step) {
    return step.label.ends_with(".sizes");
}

/// The words of the plan's steps of split and gather, without announcements.
struct PlannedWords {
    Bytes split = 0;
    Bytes gathered = 0;
};
PlannedWords words_in(Plan const& plan) {
    Bytes out = 0;
    Bytes in = 0;
    Bytes gathered = 0;
    for (StepId step = 0; step < plan.steps.size(); ++step) {
        std::string_view const phase = phase_of(plan.steps[step].label);
        RankTraffic const traffic = traffic_of_step(plan, step);
        if (phase == "split" && !announces(plan.steps[step])) {
            out += traffic.out;
            in += traffic.in;
        } else if (phase == "gather" && !announces(plan.steps[step])) {
            gathered += traffic.in;
        }
    }
    return {std::max(out, in) / word_bytes, gathered / word_bytes};
}

TEST(SparsePlans, TheStatisticIsWhatThePlansMove) {
    for (char const* const above : {"4", "1"}) {
        for (std::uint32_t const draw : {0U, 3U}) {
            Parameters const parameters = skewed({{"balance-above", above}});
            PlannedWords most;
            for (Plan const& plan : plans(8, {1, draw}, parameters)) {
                most.split = std::max(most.split, words_in(plan).split);
                most.gathered = std::max(most.gathered, words_in(plan).gathered);
            }
            EXPECT_EQ(static_cast<double>(most.split + most.gathered),
                      statistics_of(8, {1, draw}, parameters).at("words_per_rank_max"));
        }
    }
}

/// Draws share memory: what one of them delivers to, another one must not send from.
TEST(SparsePlans, OfAllDrawsNameTheSameBuffers) {
    Parameters const parameters{{"elements", "500"}, {"k", "2"}, {"balance-above", "1"}};
    auto const pattern = make_pattern(type(), "", parameters, {8, 8});
    auto const names = [&](std::uint32_t draw) {
        std::vector<std::string> found;
        for (Buffer const& buffer : build_one(*pattern, 3, {1, draw}).buffers) {
            found.push_back(buffer.name);
        }
        return found;
    };
    for (std::uint32_t draw = 1; draw < 20; ++draw) {
        EXPECT_EQ(names(draw), names(0));
    }
}

TEST(SparsePlans, DrawsDifferWhereSizesDependOnTheData) {
    for (char const* const algorithm : every_algorithm) {
        auto const pattern = make_pattern(type(), "", skewed({{"algorithm", algorithm}}), {4, 4});
        bool const differ = build_one(*pattern, 1, {1, 1}) != build_one(*pattern, 1, {1, 2});
        EXPECT_EQ(pattern->draws_differ(), differ) << algorithm;
    }
}

std::string refused(Parameters const& parameters) {
    return refusal(type(), "", parameters, {4, 4});
}

TEST(SparseParams, KIsTheDensityTimesTheElementsUnlessItIsGiven) {
    // Ok-Topk, section 5: 1 % of BERT's 133,547,324 gradients, rounded down.
    EXPECT_EQ(params_of(4, {{"elements", "133547324"}, {"density", "0.01"}}).k, 1'335'473U);
    EXPECT_EQ(params_of(4, {{"elements", "50"}, {"density", "0.001"}}).k, 1U);
    EXPECT_EQ(params_of(4, {{"elements", "3000"}, {"density", "0.009"}}).k, 27U);
    EXPECT_EQ(params_of(4, {{"elements", "1000"}, {"density", "0.01"}, {"k", "7"}}).k, 7U);
}

TEST(SparseParams, RefusalsNameWhatIsWrong) {
    for (char const* const share : {"", "0.8", "0.8:0.1:2", "0:0.1", "0.8:0", "1.1:0.1", "a:b", "0.5:1"}) {
        EXPECT_NE(refused({{"skew-share", share}}).find("expected PICKS:INDICES"), std::string::npos) << share;
    }
    EXPECT_EQ(refused({{"elements", "1000"}, {"k", "40"}, {"skew-share", "0.8:0.1"}}),
              "--k 40: too many for --elements 1000 and --skew-share 0.8:0.1: at most a quarter of the gradients "
              "anywhere are picked, here 31");
    EXPECT_NE(refused({{"elements", "10"}, {"k", "11"}}).find("--k '11'"), std::string::npos);
    EXPECT_NE(refused({{"elements", "4294967297"}}).find("--elements '4294967297'"), std::string::npos);
    EXPECT_NE(refused({{"density", "0"}}).find("--density '0'"), std::string::npos);
    EXPECT_NE(refused({{"balance-above", "0.5"}}).find("--balance-above '0.5'"), std::string::npos);
    EXPECT_NE(refused({{"bucket", "0"}}).find("--bucket '0'"), std::string::npos);
    EXPECT_NE(refused({{"elements", "4294967296"}, {"density", "0.1"}, {"skew-share", "1:1"}})
                  .find("works out the picks of all at set-up"),
              std::string::npos);
}

}  // namespace
}  // namespace dlmb::sparse_allreduce
