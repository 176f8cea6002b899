// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How many slots a cell gets, and what a pass over them is like.
#include "common/measure/buffers/buffer_pool.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

constexpr Bytes mib = Bytes{1} << 20;

TEST(Rotation, ThePoolIsThreeTimesTheCache) {
    EXPECT_EQ(slots_wanted(16 * mib, 32 * mib, 1), 6U);
    EXPECT_EQ(slots_wanted(16 * mib + 1, 32 * mib, 1), 6U);
    EXPECT_EQ(slots_wanted(16 * mib - 1, 32 * mib, 1), 7U);
}

TEST(Rotation, BuffersOfThreeCachesAreColdByThemselves) {
    EXPECT_EQ(slots_wanted(96 * mib - 1, 32 * mib, 1), 2U);
    EXPECT_EQ(slots_wanted(96 * mib, 32 * mib, 1), 1U);
    EXPECT_EQ(slots_wanted(Bytes{1} << 40, 32 * mib, 1), 1U);
}

TEST(Rotation, ARankWithoutBuffersNeedsNoSecondSlot) {
    EXPECT_EQ(slots_wanted(0, 32 * mib, 1), 1U);
}

TEST(Rotation, SmallBuffersAndLongPlansAreBoundedBySetUp) {
    EXPECT_EQ(slots_wanted(mib, 32 * mib, 1), most_slots);
    EXPECT_EQ(slots_wanted(mib - 1, 32 * mib, 1), few_slots);
    EXPECT_EQ(slots_wanted(mib, 32 * mib, most_compiled_steps / 8), 8U);
    EXPECT_EQ(slots_wanted(8, 32 * mib, 2 * most_compiled_steps), 1U);
}

TEST(Rotation, AnUnknownCacheStillGivesSeveralSlots) {
    EXPECT_GT(slots_wanted(mib, 0, 1), 1U);
}

TEST(Rotation, LittleMemoryShrinksThePoolToOneSlotButNotBelow) {
    EXPECT_EQ(slots_affordable(16 * mib, 100 * mib), 6U);
    EXPECT_EQ(slots_affordable(16 * mib, mib), 1U);
    EXPECT_EQ(slots_affordable(256 * mib, Bytes{1} << 40), most_pool_bytes / (256 * mib));
}

TEST(Rotation, SlotsAreRoundedUpToWholeDrawsWhereTheyAreAffordable) {
    EXPECT_EQ(slots_for(6, 100, 4), 8U);
    EXPECT_EQ(slots_for(6, 7, 4), 4U);
    EXPECT_EQ(slots_for(1, 100, 4), 1U);
    EXPECT_EQ(slots_for(32, 32, 1), 32U);
}

TEST(Rotation, EveryPassHasTheSameMixAndNoTwoIterationsInARowTheSameSlot) {
    for (std::uint64_t draws = 1; draws <= 20; ++draws) {
        for (std::uint64_t wanted = 1; wanted <= 40; ++wanted) {
            for (std::uint64_t const affordable : {1U, 2U, 3U, 7U, 100U}) {
                std::uint64_t const slots = slots_for(wanted, affordable, draws);
                std::uint64_t const positions = positions_of(draws, slots);
                EXPECT_GE(slots, 1U);
                EXPECT_LE(slots, affordable);
                EXPECT_EQ(slots > 1, wanted > 1 && affordable > 1) << draws << " " << wanted << " " << affordable;
                EXPECT_EQ(positions % draws, 0U);
                EXPECT_EQ(positions % slots, 0U);  // the last slot of a pass is not the first of the next one
                EXPECT_LE(positions, std::max(2 * draws, slots));
            }
        }
    }
}

}  // namespace
}  // namespace dlmb::measure
