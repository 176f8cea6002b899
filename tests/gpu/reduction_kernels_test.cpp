// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank's part of a reduction as the device writes it, and what the device calls right and wrong of a reduction that
// the host did.
#include "common/backend_kit/device_reduction.hpp"
#include "tests/gpu/device_rig.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <gtest/gtest.h>

namespace dlmb::reduction_kernels_test {
namespace {

constexpr PayloadKey key = payload_key(every_rank, every_rank, 4, 1);
constexpr int members = 5;
constexpr std::uint64_t first = 3;
constexpr Bytes large_count = (Bytes{2} << 20) + 3;  // more than all threads of a grid take at once
constexpr std::byte untouched{0xEE};

std::vector<std::byte> reduced(ReductionPayload const& payload, Reduction reduction, Bytes count) {
    return reduced_on_host(payload, reduction, key, members, first, count);
}

void expect_the_host_input(MemorySpace& space, ReductionPayload const& payload, Bytes count, Bytes shift, int member) {
    std::vector<std::byte> expected(count * size_of(payload.element()) + 2, untouched);
    DeviceCopy const device(space, expected, shift);
    payload.input(key, member, first, std::span(expected).subspan(1, expected.size() - 2));
    DeviceQueue const queue;
    device_reduction_input(queue, device.data() + 1, count, payload, key, member, first);
    queue.drain();
    EXPECT_TRUE(device.read() == expected) << count << " elements, shift " << shift << ", member " << member;
}

class DeviceReductionInputOf : public testing::TestWithParam<Element> {};

TEST_P(DeviceReductionInputOf, IsWhatTheHostWritesAndNothingBesides) {
    auto const space = device_space();
    for (Reduction const reduction : all_reductions) {
        ReductionPayload const payload(GetParam(), reduction, members);
        for (Bytes const count : {Bytes{0}, Bytes{1}, Bytes{257}}) {
            for (Bytes const shift : {Bytes{0}, Bytes{7}}) {  // the elements begin one byte behind it
                expect_the_host_input(*space, payload, count, shift, 0);
                expect_the_host_input(*space, payload, count, shift, members - 1);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Elements, DeviceReductionInputOf, testing::ValuesIn(all_elements),
                         [](auto const& test) { return std::string(name_of(test.param)); });

TEST(DeviceReductionInput, ReachesTheLastElementOfALongOne) {
    auto const space = device_space();
    expect_the_host_input(*space, ReductionPayload(Element::byte, Reduction::sum, members), large_count, 7, 2);
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
}  // namespace dlmb::reduction_kernels_test
