// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/philox.hpp"

#include <gtest/gtest.h>

#include <set>

namespace dlmb {
namespace {

// Known answers of the generator's authors (Random123, file kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedKnownAnswers) {
    EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox({ones, ones, ones, ones}, 0xffffffffffffffff),
              (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
              (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsAConstantExpression) {
    static_assert(philox({0, 0, 0, 0}, 0)[0] == 0x6627e8d5);
    static_assert(to_unit(0) == 0x1p-33);
    static_assert(to_unit(0xffffffff) == 1 - 0x1p-33);
    static_assert(below(0xffffffff, 7) == 6 && below(0, 7) == 0);
}

TEST(Philox, StreamsOfDifferentPurposeLayerOrBlockNeverMeet) {
    std::set<std::uint32_t> ids;
    for (Purpose const purpose :
         {Purpose::expert_positions, Purpose::power_law, Purpose::topk_sampling, Purpose::balanced_experts,
          Purpose::balanced_groups, Purpose::bag_size, Purpose::large_gradients, Purpose::small_gradients}) {
        for (std::uint32_t const layer : {0U, 1U, max_layers - 1}) {
            for (std::uint32_t const block : {0U, 1U, max_words_per_token / 4 - 1}) {
                ids.insert(stream_id(purpose, layer, block));
            }
        }
    }
    EXPECT_EQ(ids.size(), 8U * 3U * 3U);
}

TEST(RandomSequence, WalksTheBlocksInOrder) {
    RandomSequence random(42, 1, 2, 3);
    for (std::uint32_t block = 0; block < 3; ++block) {
        for (std::uint32_t const word : philox({1, block, 2, 3}, 42)) {
            EXPECT_EQ(random.next(), word);
        }
    }
}

}  // namespace
}  // namespace dlmb
