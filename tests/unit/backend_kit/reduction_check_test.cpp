// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The check of reductions on memory of the host, and the function of one element that the device's kernel shares.
#include "common/backend_kit/element_codec.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/memory/host_space.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

namespace dlmb::reduction_check_test {
namespace {

constexpr PayloadKey key = payload_key(every_rank, every_rank, 7, 3);
constexpr int members = 6;
constexpr std::uint64_t first = 11;

std::vector<std::byte> reduced(ReductionPayload const& payload, Reduction reduction, Bytes count) {
    return reduced_on_host(payload, reduction, key, members, first, count);
}

/// Bits of one element as the kernel computes them. constexpr, as nvcc compiles for the device what is.
template <class Codec>
constexpr auto expected_bits(ReductionPayload const& payload, std::uint64_t element) {
    auto const stored = Codec::store(static_cast<typename Codec::Value>(payload.result_at(key, element)));
    return std::bit_cast<std::array<std::byte, sizeof stored>>(stored);
}

TEST(ReductionCheck, TheFunctionOfOneElementGivesTheBitsOfTheHostReduction) {
    constexpr std::size_t count = 500;
    for (Element const element : all_elements) {
        for (Reduction const reduction : all_reductions) {
            ReductionPayload const payload(element, reduction, members);
            std::vector<std::byte> const host = reduced(payload, reduction, count);
            with_codec(element, [&](auto codec) {
                for (std::size_t i = 0; i < count; ++i) {
                    auto const expected = expected_bits<decltype(codec)>(payload, first + i);
                    ASSERT_EQ(std::memcmp(expected.data(), host.data() + i * expected.size(), expected.size()), 0)
                        << name_of(element) << " " << name_of(reduction) << ", element " << i;
                }
            });
        }
    }
}

TEST(ReductionCheck, TheFunctionOfOneElementIsConstant) {
    constexpr ReductionPayload payload(Element::byte, Reduction::sum, members);
    constexpr auto at_compile_time = expected_bits<PlainCodec<std::uint8_t>>(payload, first);
    std::byte at_run_time{};
    payload.result(key, first, std::span(&at_run_time, 1));
    EXPECT_EQ(at_compile_time[0], at_run_time);
}

TEST(ReductionCheck, NamesTheFirstWrongElementOfAnyChunk) {
    HostSpace space;
    ReductionBuffers check(space);
    for (Element const element : {Element::byte, Element::bf16, Element::fp64}) {
        ReductionPayload const payload(element, Reduction::max, members);
        constexpr std::size_t count = 70'000;
        Bytes const size = size_of(element);
        std::vector<std::byte> result = reduced(payload, Reduction::max, count);
        EXPECT_EQ(check.first_wrong(result.data(), count, payload, key, first), std::nullopt) << name_of(element);
        result.back() ^= std::byte{0x01};
        EXPECT_EQ(check.first_wrong(result.data(), count, payload, key, first), std::optional<Bytes>(count - 1));
        result[66'000 * size] ^= std::byte{0x01};
        EXPECT_EQ(check.first_wrong(result.data(), count, payload, key, first), std::optional<Bytes>(66'000));
    }
}

}  // namespace
}  // namespace dlmb::reduction_check_test
