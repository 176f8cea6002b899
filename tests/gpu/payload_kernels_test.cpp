// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the device writes and finds wrong, against the host's own functions on a copy.
#include "tests/gpu/device_rig.hpp"

#include <gtest/gtest.h>

namespace dlmb::payload_kernels_test {
namespace {

constexpr PayloadKey key = payload_key(3, 5, 7, 11);
constexpr std::byte untouched{0xEE};

// Nothing, less than a vector of 16 bytes, around one and several of them, more than all threads of a grid reach at
// once.
constexpr Bytes sizes[] = {0, 1, 7, 8, 15, 16, 17, 31, 33, 255, 4096, 65537, (Bytes{48} << 20) + 13};
constexpr Bytes shifts[] = {0, 1, 3, 8, 15};

TEST(PayloadKernels, FillWritesWhatTheHostWritesAndNothingBesides) {
    auto const space = device_space();
    for (Bytes const bytes : sizes) {
        for (Bytes const shift : shifts) {
            for (Bytes const start : {Bytes{0}, Bytes{5}}) {
                std::vector<std::byte> expected(bytes + 2, untouched);
                DeviceCopy const device(*space, expected, shift);
                fill_payload(expected.data() + 1, bytes, key, start);
                space->fill(device.data() + 1, bytes, key, start);
                ASSERT_TRUE(device.read() == expected) << bytes << " B, shift " << shift << ", start " << start;
            }
        }
    }
}

TEST(PayloadKernels, CheckAcceptsWhatTheHostWrote) {
    auto const space = device_space();
    for (Bytes const bytes : sizes) {
        for (Bytes const shift : shifts) {
            std::vector<std::byte> payload(bytes);
            fill_payload(payload.data(), bytes, key, 2);
            DeviceCopy const device(*space, payload, shift);
            ASSERT_FALSE(space->check(device.data(), bytes, key, 2)) << bytes << " B, shift " << shift;
        }
    }
}

TEST(PayloadKernels, CheckNamesTheFirstWrongByteAsTheHostDoes) {
    auto const space = device_space();
    constexpr Bytes bytes = 65537;
    for (Bytes const shift : shifts) {
        for (Bytes const wrong : {Bytes{0}, Bytes{1}, Bytes{14}, Bytes{4099}, bytes - 1}) {
            std::vector<std::byte> payload(bytes);
            fill_payload(payload.data(), bytes, key);
            payload[wrong] ^= std::byte{0x40};
            payload[bytes - 1] ^= std::byte{0x01};  // a later one, found by another thread
            auto const expected = check_payload(payload.data(), bytes, key);
            DeviceCopy const device(*space, payload, shift);
            auto const found = space->check(device.data(), bytes, key);
            ASSERT_TRUE(expected && found) << "byte " << wrong << ", shift " << shift;
            EXPECT_EQ(found->offset, expected->offset);
            EXPECT_EQ(found->expected, expected->expected);
            EXPECT_EQ(found->found, expected->found);
        }
    }
}

}  // namespace
}  // namespace dlmb::payload_kernels_test
