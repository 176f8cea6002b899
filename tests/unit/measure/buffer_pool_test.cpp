// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/memory/host_space.hpp"

#include <gtest/gtest.h>

namespace dlmb::measure {
namespace {

TEST(BufferPool, SlotsLieBehindEachOtherOnPagesAndDoNotOverlap) {
    HostSpace memory;
    std::vector<Bytes> const sizes{1, 4096, 5000};
    BufferPool const pool(memory, sizes, 3);
    ASSERT_EQ(pool.slots().size(), 3U);
    for (std::size_t id = 0; id < sizes.size(); ++id) {
        EXPECT_EQ(pool.slots()[0].base[id], pool.allocations()[id].data());
        for (std::size_t slot = 1; slot < 3; ++slot) {
            auto const distance = pool.slots()[slot].base[id] - pool.slots()[slot - 1].base[id];
            EXPECT_EQ(static_cast<Bytes>(distance), slot_stride(sizes[id]));
            EXPECT_GE(static_cast<Bytes>(distance), sizes[id]);
        }
    }
    for (std::size_t id = 0; id < sizes.size(); ++id) {
        pool.slots()[2].base[id][sizes[id] - 1] = std::byte{7};  // the last byte is there
    }
}

TEST(BufferPool, OnTheHostWhatIsDeliveredBeginsOnAPage) {
    HostSpace memory;
    std::vector<Bytes> const sizes{5000, 5000};
    std::vector<Bytes> const leads{0, 64};
    for (std::uint64_t const slots : {1U, 3U}) {
        BufferPool const pool(memory, sizes, slots, leads);
        for (Buffers const& slot : pool.slots()) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot.base[0]) % slot_alignment, 0U);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot.base[1] + 64) % slot_alignment, 0U);
        }
        pool.slots().back().base[1][4999] = std::byte{7};  // the last byte is there
    }
}

TEST(BufferPool, TheLeadOfABufferIsWhatLiesBeforeItsFirstDelivery) {
    Plan plan;
    plan.groups.push_back({{0, 1}});
    plan.buffers = {{"send", 8}, {"recv", 192}};
    plan.steps.push_back({Exchange{0, 0, 1, {{1, 0, 8}}, {{1, 64, 8}}}, {}, "exchange"});
    EXPECT_EQ(buffer_leads(plan), (std::vector<Bytes>{0, 64}));
}

TEST(BufferPool, OneSlotTakesNoMoreThanItsBuffers) {
    HostSpace memory;
    std::vector<Bytes> const sizes{5000, 0};
    BufferPool const pool(memory, sizes, 1);
    EXPECT_EQ(pool.allocations()[0].bytes(), 5000U);
    EXPECT_EQ(pool.allocations()[1].bytes(), 0U);
}

TEST(BufferPool, ABufferIsAsLargeAsInTheDrawThatNeedsMost) {
    std::vector<Plan> plans(2);
    plans[0].buffers = {{"a", 100}, {"b", 50}};
    plans[1].buffers = {{"a", 70}, {"b", 200}};
    EXPECT_EQ(buffer_sizes(plans), (std::vector<Bytes>{100, 200}));
}

TEST(BufferPool, InMemoryOfNcclRanksAllocateAlike) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        bool const first = bootstrap.rank() == 0;
        Plan plan;
        plan.buffers = first ? std::vector<Buffer>{{"send", 8}} : std::vector<Buffer>{{"recv", 5}, {"more", 3}};
        std::vector<Bytes> const own = first ? std::vector<Bytes>{8} : std::vector<Bytes>{5, 3};
        std::span<Plan const> const plans(&plan, 1);
        EXPECT_EQ(allocated_sizes(bootstrap, MemoryKind::nccl, plans), (std::vector<Bytes>{8, 3}));
        EXPECT_EQ(allocated_sizes(bootstrap, MemoryKind::cuda, plans), own);
    });
}

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
