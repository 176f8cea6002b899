// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/communicators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace dlmb::nccl {
namespace {

using testing::ElementsAre;

std::vector<Blob> told_by(std::vector<std::vector<Group>> const& ranks) {
    std::vector<Blob> blobs;
    for (auto const& groups : ranks) {
        blobs.push_back(pack_groups(groups));
    }
    return blobs;
}

TEST(GroupList, AllRanksGroupsAreSortedAndEachIsThereOnce) {
    auto const groups = unpack_groups(told_by({{{{2, 3}}, {{0, 1, 2}}}, {}, {{{2, 3}}}}));
    EXPECT_THAT(groups, ElementsAre(Group{{0, 1, 2}}, Group{{2, 3}}));
}

TEST(GroupList, GroupsWithoutACommonRankAreMadeAtOnce) {
    EXPECT_EQ(disjoint_batches({{{0, 1}}, {{2, 3}}, {{4}}}).size(), 1U);
}

TEST(GroupList, ABatchNeverHoldsARankTwiceAndNoGroupIsLost) {
    std::vector<Group> const groups{{{0, 1}}, {{0, 2}}, {{1, 3}}, {{2, 3}}, {{3, 0}}};
    std::size_t count = 0;
    for (auto const& batch : disjoint_batches(groups)) {
        std::set<Rank> ranks;
        for (Group const& group : batch) {
            ++count;
            for (Rank const member : group.members) {
                EXPECT_TRUE(ranks.insert(member).second) << "rank " << member << " is in two groups of a batch";
            }
        }
    }
    EXPECT_EQ(count, groups.size());
}

}  // namespace
}  // namespace dlmb::nccl
