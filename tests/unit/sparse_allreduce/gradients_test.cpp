// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sparse_allreduce/gradients.hpp"
#include "tests/unit/sparse_allreduce/sparse_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::sparse_allreduce {
namespace {

TEST(Gradients, TheLargeOnesAreThoseOfAllThatAreAboveTheirBound) {
    Params const params = params_of(4, skewed());
    Gradients const gradients(params);
    for (Rank const rank : {0, 3}) {
        SparseVector found;
        std::vector<float> const all = gradients.all(rank, {7, 2});
        for (std::uint32_t index = 0; index < params.elements; ++index) {
            if (std::fabs(static_cast<double>(all[index])) > gradients.large_from()) {
                found.push_back({index, all[index]});
            }
        }
        EXPECT_EQ(found, gradients.large(rank, {7, 2}));
    }
}

TEST(Gradients, ThePicksAreSharedOutAsAskedFor) {
    Params const params = params_of(4, skewed());
    Gradients const gradients(params);
    std::size_t crowded = 0;
    for (Rank rank = 0; rank < 4; ++rank) {
        SparseVector const picks = largest(gradients.large(rank, {}), params.k);
        ASSERT_EQ(picks.size(), params.k);
        crowded += part_of(picks, 0, 10'000).size();
    }
    // Binomial: 4,000 picks, standard deviation sqrt(4000 * 0.8 * 0.2) = 25.
    EXPECT_NEAR(static_cast<double>(crowded), 3200, 5 * 25);
}

TEST(Gradients, DifferBetweenRanksIterationsAndSeeds) {
    Gradients const gradients(params_of(4, skewed()));
    SparseVector const first = gradients.large(0, {1, 0});
    EXPECT_EQ(first, gradients.large(0, {1, 0}));
    EXPECT_NE(first, gradients.large(1, {1, 0}));
    EXPECT_NE(first, gradients.large(0, {1, 1}));
    EXPECT_NE(first, gradients.large(0, {2, 0}));
}

TEST(Gradients, OfEveryNumberAndSkewThereAreEnoughToPick) {
    for (Parameters const& parameters :
         {Parameters{{"elements", "1"}, {"k", "1"}}, Parameters{{"elements", "10"}, {"k", "1"}},
          Parameters{{"elements", "1000"}, {"k", "31"}},
          Parameters{{"elements", "400"}, {"k", "100"}, {"skew-share", "1:1"}},
          Parameters{{"elements", "1000"}, {"k", "20"}, {"skew-share", "0.1:0.9"}}}) {
        Params const params = params_of(2, parameters);
        Gradients const gradients(params);
        for (std::uint32_t draw = 0; draw < 50; ++draw) {
            EXPECT_GE(gradients.large(1, {1, draw}).size(), params.k);
        }
    }
}

TEST(Gradients, SumsOverAllRanksAreExactInSinglePrecision) {
    for (int const ranks : {2, 16, 512}) {
        Params const params = params_of(ranks, {{"elements", "300"}, {"k", "2"}, {"skew-share", "1:1"}});
        Gradients const gradients(params);
        std::vector<float> forwards(params.elements);
        std::vector<float> backwards(params.elements);
        std::vector<double> exact(params.elements);
        for (Rank rank = 0; rank < ranks; ++rank) {
            std::vector<float> const up = gradients.all(rank, {});
            std::vector<float> const down = gradients.all(ranks - 1 - rank, {});
            for (std::size_t i = 0; i < exact.size(); ++i) {
                forwards[i] += up[i];
                backwards[i] += down[i];
                exact[i] += static_cast<double>(up[i]);
            }
        }
        EXPECT_EQ(forwards, backwards);
        EXPECT_EQ(forwards, std::vector<float>(exact.begin(), exact.end()));
    }
}

}  // namespace
}  // namespace dlmb::sparse_allreduce
