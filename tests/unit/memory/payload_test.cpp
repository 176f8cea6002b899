// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/payload.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace dlmb {
namespace {

constexpr PayloadKey key = payload_key(3, 5, 1, 0);

TEST(Payload, MemoryHoldsTheWordsOfTheStreamInOrder) {
    // 29 words and 5 bytes: the blocked loop, the rest of it, and a tail.
    std::vector<std::byte> data(29 * 8 + 5);
    fill_payload(data.data(), data.size(), key);
    for (std::size_t index = 0; index < 29; ++index) {
        std::uint64_t word = 0;
        std::memcpy(&word, data.data() + index * 8, 8);
        EXPECT_EQ(word, payload_word(key, index)) << "word " << index;
    }
    std::uint64_t const last = payload_word(key, 29);
    EXPECT_EQ(std::memcmp(data.data() + std::size_t{29} * 8, &last, 5), 0);
}

TEST(Payload, EveryLengthIsWrittenWholeAndNothingBehindIt) {
    for (std::size_t bytes = 0; bytes <= 200; ++bytes) {
        std::vector<std::byte> data(bytes + 16, std::byte{0xEE});
        fill_payload(data.data(), bytes, key);
        EXPECT_FALSE(check_payload(data.data(), bytes, key)) << bytes;
        for (std::size_t i = bytes; i < data.size(); ++i) {
            ASSERT_EQ(data[i], std::byte{0xEE}) << bytes << " B, byte " << i;
        }
    }
}

TEST(Payload, AnyFlippedBitIsFoundAtItsByte) {
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{131}}) {
        std::vector<std::byte> data(bytes);
        fill_payload(data.data(), bytes, key);
        for (std::size_t i = 0; i < bytes; ++i) {
            std::byte const right = data[i];
            data[i] ^= std::byte{0x10};
            auto const wrong = check_payload(data.data(), bytes, key);
            ASSERT_TRUE(wrong) << "byte " << i << " of " << bytes;
            EXPECT_EQ(wrong->offset, i);
            EXPECT_EQ(wrong->expected, std::to_integer<std::uint8_t>(right));
            EXPECT_EQ(wrong->found, std::to_integer<std::uint8_t>(right ^ std::byte{0x10}));
            data[i] = right;
        }
    }
}

TEST(Payload, APartOfAStreamIsTheStreamFromItsStartWord) {
    std::vector<std::byte> whole(512);
    fill_payload(whole.data(), whole.size(), key);
    for (Bytes start = 0; start < 20; ++start) {
        EXPECT_FALSE(check_payload(whole.data() + start * 8, 333, key, start));
        EXPECT_TRUE(check_payload(whole.data() + start * 8, 333, key, start + 1));
        std::vector<std::byte> part(333);
        fill_payload(part.data(), part.size(), key, start);
        EXPECT_EQ(std::memcmp(part.data(), whole.data() + start * 8, part.size()), 0);
    }
}

TEST(Payload, TheStartMayLieAbove2To32Words) {
    Bytes const start = (Bytes{1} << 32) + 3;
    std::vector<std::byte> data(24);
    fill_payload(data.data(), data.size(), key, start);
    std::uint64_t word = 0;
    std::memcpy(&word, data.data(), 8);
    EXPECT_EQ(word, payload_word(key, start));
    EXPECT_NE(word, payload_word(key, 3));
}

TEST(Payload, NeighbouringIdentitiesHaveDifferentFirstWords) {
    std::set<std::uint64_t> words;
    std::size_t count = 0;
    for (Rank source = -1; source < 8; ++source) {
        for (Rank destination = -1; destination < 8; ++destination) {
            for (std::uint32_t step = 0; step < 8; ++step) {
                for (std::uint32_t iteration = 0; iteration < 8; ++iteration) {
                    words.insert(payload_word(payload_key(source, destination, step, iteration), 0));
                    ++count;
                }
            }
        }
    }
    EXPECT_EQ(words.size(), count);
}

}  // namespace
}  // namespace dlmb
