// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the device calls right and wrong of a reduction that the host did.
#include "common/backend/device_reduction_check.hpp"
#include "tests/gpu/device_rig.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <gtest/gtest.h>

namespace dlmb {
namespace {

constexpr PayloadKey key = payload_key(every_rank, every_rank, 4, 1);
constexpr int members = 5;
constexpr std::uint64_t first = 3;
constexpr Bytes large_count = (Bytes{2} << 20) + 3;  // more than all threads of a grid take at once

std::vector<std::byte> reduced(ReductionPayload const& payload, Reduction reduction, Bytes count) {
    return reduced_on_host(payload, reduction, key, members, first, count);
}

class DeviceReductionCheckOf : public testing::TestWithParam<Element> {};

TEST_P(DeviceReductionCheckOf, AcceptsWhatTheHostReduced) {
    auto const space = device_space();
    DeviceReductionCheck check;
    for (Reduction const reduction : all_reductions) {
        ReductionPayload const payload(GetParam(), reduction, members);
        for (Bytes const count : {Bytes{0}, Bytes{1}, Bytes{257}}) {
            std::vector<std::byte> const result = reduced(payload, reduction, count);
            for (Bytes const shift : {Bytes{0}, Bytes{1}, Bytes{8}}) {
                DeviceCopy const device(*space, result, shift);
                EXPECT_EQ(check.first_wrong(device.data(), count, payload, key, first), std::nullopt)
                    << name_of(reduction) << " of " << count << ", shift " << shift;
            }
        }
    }
}

TEST(DeviceReductionCheck, FindsTheLastElementOfALongResult) {
    auto const space = device_space();
    DeviceReductionCheck check;
    ReductionPayload const payload(Element::byte, Reduction::sum, members);
    std::vector<std::byte> result = reduced(payload, Reduction::sum, large_count);
    DeviceCopy const right(*space, result, 0);
    EXPECT_EQ(check.first_wrong(right.data(), large_count, payload, key, first), std::nullopt);
    result.back() ^= std::byte{0x01};
    DeviceCopy const wrong(*space, result, 0);
    EXPECT_EQ(check.first_wrong(wrong.data(), large_count, payload, key, first), std::optional(large_count - 1));
}

TEST_P(DeviceReductionCheckOf, NamesTheFirstElementWithAWrongBit) {
    auto const space = device_space();
    DeviceReductionCheck check;
    Bytes const size = size_of(GetParam());
    ReductionPayload const payload(GetParam(), Reduction::sum, members);
    for (Bytes const wrong : {Bytes{0}, Bytes{255}, Bytes{256}, Bytes{998}}) {
        for (Bytes const byte : {Bytes{0}, size - 1}) {
            std::vector<std::byte> result = reduced(payload, Reduction::sum, 1000);
            result[wrong * size + byte] ^= std::byte{0x01};
            result.back() ^= std::byte{0x80};  // a later one, found by another thread
            DeviceCopy const device(*space, result, 0);
            EXPECT_EQ(check.first_wrong(device.data(), 1000, payload, key, first), std::optional(wrong));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Elements, DeviceReductionCheckOf, testing::ValuesIn(all_elements),
                         [](auto const& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace dlmb
