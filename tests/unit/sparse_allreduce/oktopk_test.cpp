// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ok-Topk (arXiv 2201.07598): what it chooses and moves, against sums and choices worked out on dense vectors, and
// against the bound of its paper.
#include "tests/unit/sparse_allreduce/sparse_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::sparse_allreduce {
namespace {

std::shared_ptr<SparseIteration const> iteration_of(Params const& params, Draw draw) {
    return SparseIterations(params).at(draw);
}

/// Li, Hoefler, PPoPP 2022, equation 3: a rank moves at most 6k(P - 1)/P words.
TEST(Oktopk, StaysWithinTheBoundOfItsPaperOnSkewedGradients) {
    for (int const ranks : {1, 2, 4, 8, 16}) {
        for (std::uint64_t const seed : {1U, 2U, 3U}) {
            auto const statistics = statistics_of(ranks, {seed, 0}, skewed());
            EXPECT_EQ(statistics.at("words_bound"), 6000.0 * (ranks - 1) / ranks);
            EXPECT_LE(statistics.at("words_per_rank_max"), statistics.at("words_bound")) << ranks;
            EXPECT_EQ(statistics.at("topk_recall"), 1);
            EXPECT_EQ(statistics.at("result_elements"), 1000);
        }
    }
}

TEST(Oktopk, WithoutBalanceBreaksTheBoundOnSkewedGradients) {
    for (int const ranks : {2, 4, 8, 16}) {
        auto const statistics = statistics_of(ranks, {}, skewed({{"no-balance", "on"}}));
        EXPECT_GT(statistics.at("words_per_rank_max"), statistics.at("words_bound")) << ranks;
        EXPECT_EQ(statistics.at("topk_recall"), 1);
    }
    // Even gradients need no balance.
    auto const even = statistics_of(8, {}, skewed({{"no-balance", "on"}, {"skew-share", "1:1"}}));
    EXPECT_LE(even.at("words_per_rank_max"), even.at("words_bound"));
}

/// Figures of an independent simulation of the algorithm (words of the busiest rank; drawn otherwise, so 3 % apart).
TEST(Oktopk, MovesWhatAnIndependentSimulationFound) {
    EXPECT_NEAR(statistics_of(4, {}, skewed()).at("words_per_rank_max"), 3044, 0.03 * 3044);
    EXPECT_NEAR(statistics_of(8, {}, skewed()).at("words_per_rank_max"), 3596, 0.03 * 3596);
    Parameters const unbalanced = skewed({{"no-balance", "on"}});
    EXPECT_NEAR(statistics_of(4, {}, unbalanced).at("words_per_rank_max"), 7016, 0.03 * 7016);
    EXPECT_NEAR(statistics_of(8, {}, unbalanced).at("words_per_rank_max"), 13352, 0.03 * 13352);
}

TEST(Oktopk, TheResultIsTheExactTopKOfTheSumOfThePicks) {
    for (int const ranks : {1, 2, 3, 4, 8, 16}) {
        for (char const* const no_balance : {"off", "on"}) {
            Params const params = params_of(ranks, skewed({{"no-balance", no_balance}}));
            EXPECT_EQ(iteration_of(params, {3, 0})->result, expected_result(params, {3, 0})) << ranks;
        }
    }
}

TEST(Oktopk, WhatIsAddedUpIsTheResultAndWhatTheRanksKeepBack) {
    Params const params = params_of(4, skewed());
    auto const iteration = iteration_of(params, {});
    std::vector<double> inputs(params.elements);
    std::vector<double> outputs(params.elements);
    for (SparseEntry const& entry : iteration->result) {
        outputs[entry.index] += static_cast<double>(entry.value);
    }
    Gradients const gradients(params);
    for (std::size_t rank = 0; rank < params.ranks; ++rank) {
        std::vector<float> residual = gradients.all(static_cast<Rank>(rank), {});
        std::transform(residual.begin(), residual.end(), inputs.begin(), inputs.begin(),
                       [](float value, double sum) { return sum + static_cast<double>(value); });
        // What is picked here and in the result is spent.
        for (SparseEntry const& pick : iteration->picks[rank]) {
            bool const spent = !part_of(iteration->result, pick.index, std::uint64_t{pick.index} + 1).empty();
            residual[pick.index] = spent ? 0 : residual[pick.index];
        }
        std::transform(residual.begin(), residual.end(), outputs.begin(), outputs.begin(),
                       [](float value, double sum) { return sum + static_cast<double>(value); });
    }
    EXPECT_EQ(inputs, outputs);
}

TEST(Oktopk, IndicesAbove2To24StayExact) {
    Params const params = params_of(2, {{"elements", "4000000000"}, {"k", "200"}, {"skew-share", "1:1"}});
    auto const iteration = iteration_of(params, {});
    SparseVector const expected = largest(sum_of(iteration->picks), params.k);
    EXPECT_EQ(iteration->result, expected);
    EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), [](SparseEntry const& entry) {
        return entry.index != static_cast<std::uint32_t>(static_cast<double>(static_cast<float>(entry.index)));
    })) << "some indices are none that fp32 has";
}

TEST(Oktopk, ThresholdsAreReusedBetweenEstimatesAndRegionsBetweenPartitions) {
    Params const params = params_of(4, skewed({{"threshold-every", "3"}, {"boundaries-every", "4"}}));
    SparseIterations const iterations(params);
    Regions regions;
    for (std::uint32_t index = 0; index < 9; ++index) {
        auto const iteration = iterations.at({1, index});
        EXPECT_EQ(iteration->estimated, index % 3 == 0);
        EXPECT_EQ(iteration->partitioned, index % 4 == 0);
        EXPECT_EQ(iteration->regions == regions, index % 4 != 0);
        regions = iteration->regions;
        if (iteration->estimated) {
            EXPECT_EQ(iteration->result.size(), params.k);
            EXPECT_EQ(iteration->recall, 1);
        } else {
            // Counts above a threshold of another draw: standard deviation sqrt(1000) = 32 and that of the threshold.
            EXPECT_NEAR(static_cast<double>(iteration->picks[1].size()), 1000, 250);
            EXPECT_NEAR(static_cast<double>(iteration->result.size()), 1000, 250);
            EXPECT_GT(iteration->recall, 0.75);
        }
    }
}

TEST(Oktopk, AnIterationIsTheSameWhicheverWasAskedForBefore) {
    Params const params = params_of(3, skewed({{"threshold-every", "4"}, {"boundaries-every", "6"}}));
    SparseIterations const in_order(params);
    for (std::uint32_t index = 0; index < 15; ++index) {
        auto const expected = in_order.at({5, index});
        auto const found = iteration_of(params, {5, index});
        EXPECT_EQ(found->picks, expected->picks);
        EXPECT_EQ(found->regions, expected->regions);
        EXPECT_EQ(found->result, expected->result);
    }
}

TEST(Oktopk, AThresholdThatLetsTooManyOrTooFewPassIsCorrected) {
    Params const params = params_of(1, {{"elements", "1000"}, {"k", "4"}});
    SparseVector const six{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
    Thresholds thresholds{.local = 1, .global = 1};
    EXPECT_EQ(select(params, false, six, thresholds), six);
    EXPECT_EQ(thresholds.local, 1.012);  // 6 > 5/4 k
    thresholds.local = 5;
    EXPECT_EQ(select(params, false, six, thresholds).size(), 2U);
    EXPECT_EQ(thresholds.local, 5 / 1.012);  // 2 < 2/3 k
    EXPECT_EQ(select(params, true, six, thresholds), (SparseVector{{2, 3}, {3, 4}, {4, 5}, {5, 6}}));
    EXPECT_EQ(thresholds.local, 3);
    correct_global(params, false, six, thresholds);
    EXPECT_EQ(thresholds.global, 1.008);
    correct_global(params, false, std::span(six).first(3), thresholds);
    EXPECT_EQ(thresholds.global, 1);  // 3 < 4/5 k
}

TEST(Oktopk, PartsAreEvenedWhereOneIsFarLargerThanTheMean) {
    Params params = params_of(4, skewed());
    std::vector<std::size_t> const counts{40, 0, 0, 8};
    EXPECT_TRUE(even_parts(params, counts).empty()) << "40 is below four times 12";
    params.balance_above = 2;
    EXPECT_EQ(even_parts(params, counts), (std::vector<EntryMove>{{0, 1, 12, 12}, {0, 2, 24, 12}, {0, 3, 36, 4}}));
    params.balanced = false;
    EXPECT_TRUE(even_parts(params, counts).empty());
}

TEST(Oktopk, EvenPartsCostLessThanTheyMaySave) {
    for (int const ranks : {2, 4, 8, 16}) {
        auto const statistics = statistics_of(ranks, {}, skewed({{"balance-above", "1"}}));
        EXPECT_LE(statistics.at("words_per_rank_max"), statistics.at("words_bound")) << ranks;
    }
}

TEST(OtherAlgorithms, GiveTheExactTopKExceptGtopkWhichDropsPartsOfSums) {
    for (int const ranks : {1, 2, 3, 8}) {
        for (char const* const algorithm : {"topk_allgather", "recursive_sparse"}) {
            Params const params = params_of(ranks, skewed({{"algorithm", algorithm}}));
            EXPECT_EQ(iteration_of(params, {})->result, expected_result(params, {})) << algorithm << ' ' << ranks;
        }
        auto const gtopk = statistics_of(ranks, {}, skewed({{"algorithm", "gtopk"}}));
        EXPECT_EQ(gtopk.at("result_elements"), 1000);
        EXPECT_GT(gtopk.at("topk_recall"), 0.3);
        EXPECT_EQ(gtopk.at("topk_recall") == 1, ranks <= 2) << "one sum of two loses nothing";
    }
}

/// Li, Hoefler, PPoPP 2022, table 1: TopkA 2k(P - 1); gTopk 2k log P to the root and as much from it; dense
/// 2n(P - 1)/P.
TEST(OtherAlgorithms, MoveTheWordsOfTheirFormulas) {
    auto const words = [](char const* algorithm, int ranks) {
        return statistics_of(ranks, {}, skewed({{"algorithm", algorithm}})).at("words_per_rank_max");
    };
    EXPECT_EQ(words("topk_allgather", 8), 2000 * 7);
    EXPECT_EQ(words("gtopk", 8), 2000 * 3 + 2000);
    EXPECT_EQ(words("dense", 8), 2 * 100'000 * 7 / 8);
    // Fill-in: with overlaps only, between no growth (3 rounds of 2k) and doubling each round (2k + 4k + 8k).
    EXPECT_GT(words("recursive_sparse", 8), 2000 * 3);
    EXPECT_LT(words("recursive_sparse", 8), 2000 * 7);
}

TEST(OtherAlgorithms, RecursiveSparseSendsADenseVectorWhereThatIsShorter) {
    Parameters const dense_soon{
        {"algorithm", "recursive_sparse"}, {"elements", "400"}, {"k", "100"}, {"skew-share", "1:1"}};
    EXPECT_LE(statistics_of(8, {}, dense_soon).at("words_per_rank_max"), 3 * 400);
}

TEST(SparseVectors, AreAddedAtEqualIndices) {
    std::vector<SparseVector> const terms{{{1, 1.0F}, {5, 2.0F}}, {}, {{5, -0.5F}, {9, 4.0F}}, {{0, 8.0F}, {5, 1.0F}}};
    EXPECT_EQ(sum_of(terms), (SparseVector{{0, 8.0F}, {1, 1.0F}, {5, 2.5F}, {9, 4.0F}}));
    EXPECT_EQ(sum_of(std::vector<SparseVector>{}), SparseVector{});
}

TEST(SparseVectors, TheLargestMagnitudesStayAndOfEqualOnesTheLowerIndices) {
    SparseVector const vector{{2, 1.0F}, {3, -4.0F}, {7, 2.0F}, {8, -2.0F}, {9, 2.0F}};
    EXPECT_EQ(largest(vector, 3), (SparseVector{{3, -4.0F}, {7, 2.0F}, {8, -2.0F}}));
    EXPECT_EQ(largest(vector, 9), vector);
    EXPECT_EQ(least_magnitude(largest(vector, 3)), 2);
    EXPECT_EQ(at_least(vector, 2), (SparseVector{{3, -4.0F}, {7, 2.0F}, {8, -2.0F}, {9, 2.0F}}));
}

TEST(SparseVectors, PartsAreHalfOpenRangesOfIndices) {
    SparseVector const vector{{2, 1.0F}, {4, 1.0F}, {4294967295U, 1.0F}};
    EXPECT_EQ(part_of(vector, 2, 4).size(), 1U);
    EXPECT_EQ(part_of(vector, 5, 5).size(), 0U);
    EXPECT_EQ(part_of(vector, 5, std::uint64_t{1} << 32).size(), 1U);
}

}  // namespace
}  // namespace dlmb::sparse_allreduce
