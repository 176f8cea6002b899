// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/suggest.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

using Names = std::vector<std::string>;

TEST(Suggest, PutsTheNearestNameFirst) {
    Names const known{"mixtral-8x7b", "deepseek-v2", "kimi-k2", "deepseek-v3"};
    // Both deepseek names are one replaced character away and keep their order; kimi-k2 is 4 characters shorter.
    Names const found = nearest("deepseek-v4", known);
    EXPECT_EQ((Names{found.at(0), found.at(1)}), (Names{"deepseek-v2", "deepseek-v3"}));
    EXPECT_EQ(nearest("deepsek-v3", known).front(), "deepseek-v3");
    EXPECT_EQ(nearest("kimi", known).front(), "kimi-k2");
}

TEST(Suggest, GivesAtMostThreeAndAllOfFewer) {
    EXPECT_EQ(nearest("x", Names{"a", "b", "c", "d"}).size(), 3U);
    EXPECT_EQ(nearest("x", Names{"a"}), Names{"a"});
    EXPECT_TRUE(nearest("x", Names{}).empty());
}

TEST(Suggest, CountsInsertedRemovedAndReplacedCharacters) {
    EXPECT_EQ(nearest("pairwise", Names{"alltoallv", "pairwise_", "pairwis", "linear"}).back(), "linear");
    EXPECT_EQ(nearest("", Names{"abc", "ab", "a"}), (Names{"a", "ab", "abc"}));
}

TEST(Suggest, TheMessageNamesKindNameAndNeighbours) {
    EXPECT_EQ(unknown_name("backend", "ucc", Names{"mpi", "ucx"}), "unknown backend 'ucc'; nearest: ucx, mpi");
}

}  // namespace
}  // namespace dlmb
