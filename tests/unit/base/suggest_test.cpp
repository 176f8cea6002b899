// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dlmb {
namespace {

using Names = std::vector<std::string>;

/// What is suggested for an unknown name.
std::string nearest(std::string_view unknown, Names const& known) {
    std::string const text = unknown_name("name", unknown, known);
    return text.substr(text.find("nearest: ") + std::string_view("nearest: ").size());
}

TEST(Suggest, PutsTheNearestNameFirst) {
    Names const known{"mixtral-8x7b", "deepseek-v2", "kimi-k2", "deepseek-v3"};
    // Both deepseek names are one replaced character away and keep their order; kimi-k2 is 4 characters shorter.
    EXPECT_EQ(nearest("deepseek-v4", known).substr(0, 24), "deepseek-v2, deepseek-v3");
    EXPECT_EQ(nearest("deepsek-v3", known).substr(0, 12), "deepseek-v3,");
    EXPECT_EQ(nearest("kimi", known).substr(0, 8), "kimi-k2,");
}

TEST(Suggest, GivesAtMostThreeAndAllOfFewer) {
    EXPECT_EQ(nearest("x", {"a", "b", "c", "d"}), "a, b, c");
    EXPECT_EQ(nearest("x", {"a"}), "a");
    EXPECT_EQ(unknown_name("option", "x", Names{}), "unknown option 'x'; there is none");
}

TEST(Suggest, CountsInsertedRemovedAndReplacedCharacters) {
    EXPECT_EQ(nearest("pairwise", {"alltoallv", "pairwise_", "pairwis"}), "pairwise_, pairwis, alltoallv");
    EXPECT_EQ(nearest("", {"abc", "ab", "a"}), "a, ab, abc");
}

TEST(Suggest, PutsWhatTheWordAbbreviatesFirst) {
    Names const options{"--time", "--iters", "--iterations", "--timing", "--items"};
    EXPECT_EQ(nearest("--iterat", options).substr(0, 12), "--iterations");
    EXPECT_EQ(nearest("--it", options), "--iters, --items, --iterations") << "the shorter ones before";
    EXPECT_EQ(nearest("--", {"---aaa", "-x"}), "-x, ---aaa") << "dashes abbreviate nothing";
    EXPECT_EQ(nearest("mess", {"message-size", "mesh"}).substr(0, 12), "message-size");
}

TEST(Suggest, TheMessageNamesKindNameAndNeighbours) {
    EXPECT_EQ(unknown_name("backend", "ucc", Names{"mpi", "ucx"}), "unknown backend 'ucc'; nearest: ucx, mpi");
}

}  // namespace
}  // namespace dlmb
