// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/host_space.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dlmb {
namespace {

constexpr Bytes eight_pages = Bytes{8} * 4096;

class PagePlacementTest : public ::testing::Test {
protected:
    PagePlacementTest() { HostSpace().fill(memory_.data(), memory_.bytes(), guard_key); }
    void SetUp() override {
        if (sample_pages(memory_.data(), 1, {}, 1).sampled == 0) {
            GTEST_SKIP() << "the kernel may not be asked here: containers may forbid move_pages";
        }
    }

    Allocation memory_ = allocate_host(eight_pages);
};

TEST_F(PagePlacementTest, TouchedPagesAreOnSomeNodeAndElsewhereIsWhereNobodyWantedThem) {
    EXPECT_EQ(sample_pages(memory_.data(), eight_pages, {}, 100), (PagePlacement{8, 0}));
    EXPECT_EQ(sample_pages(memory_.data(), eight_pages, {}, 3), (PagePlacement{3, 0}));
    std::vector<int> const no_such_node{1000};
    EXPECT_EQ(sample_pages(memory_.data(), eight_pages, no_such_node, 4), (PagePlacement{4, 4}));
}

TEST_F(PagePlacementTest, PagesThatNobodyTouchedAreNowhere) {
    Allocation const untouched = allocate_host(eight_pages);
    EXPECT_EQ(sample_pages(untouched.data(), eight_pages, {}, 8), (PagePlacement{0, 0}));
    EXPECT_EQ(sample_pages(nullptr, 0, {}, 8), (PagePlacement{0, 0}));
}

}  // namespace
}  // namespace dlmb
