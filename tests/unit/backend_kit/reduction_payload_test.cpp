// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/host_reduce.hpp"
#include "common/backend_kit/plan_payload.hpp"
#include "common/memory/host_space.hpp"
#include "tests/reductions/all_reductions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dlmb::reduction_payload_test {
namespace {

constexpr PayloadKey key = payload_key(every_rank, every_rank, 9, 2);
constexpr std::size_t count = 257;

/// `members` folded in the given direction. The point of the payload is that the direction does not matter.
std::vector<std::byte> folded(ReductionPayload const& payload, Reduction reduction, int members, bool backwards) {
    std::size_t const bytes = count * size_of(payload.element());
    std::vector<std::byte> result(bytes);
    std::vector<std::byte> operand(bytes);
    for (int i = 0; i < members; ++i) {
        int const member = backwards ? members - 1 - i : i;
        payload.input(key, member, 5, operand);
        if (i == 0) {
            result = operand;
        } else {
            host_reduce(result.data(), operand.data(), bytes, payload.element(), reduction);
        }
    }
    return result;
}

TEST(ReductionPayload, TheResultIsExactForEveryTypeSizeAndOrder) {
    for (Element const element : all_elements) {
        for (Reduction const reduction : all_reductions) {
            for (int const members : {1, 2, 3, 4, 5, 9, 64, 300}) {  // 300: far above what fp8 counts exactly
                ReductionPayload const payload(element, reduction, members);
                std::vector<std::byte> expected(count * size_of(element));
                payload.result(key, 5, expected);
                EXPECT_EQ(folded(payload, reduction, members, false), expected)
                    << name_of(element) << " " << name_of(reduction) << " " << members;
                EXPECT_EQ(folded(payload, reduction, members, true), expected)
                    << name_of(element) << " " << name_of(reduction) << " " << members << " backwards";
            }
        }
    }
}

TEST(ReductionPayload, AMissingContributionOfAnyMemberChangesTheResult) {
    for (Element const element : all_elements) {
        for (Reduction const reduction : all_reductions) {
            for (int const members : {2, 5, 9}) {
                ReductionPayload const payload(element, reduction, members);
                std::vector<std::byte> whole(count * size_of(element));
                std::vector<std::byte> without(whole.size());
                payload.result(key, 0, whole);
                for (int member = 0; member < members; ++member) {
                    payload.result_without(key, member, 0, without);
                    EXPECT_NE(whole, without) << name_of(element) << " " << name_of(reduction) << " member " << member;
                }
            }
        }
    }
}

TEST(ReductionPayload, ASettledResultStaysWhatItIsWhenAllReduceItAgain) {
    for (Element const element : all_elements) {
        for (Reduction const reduction : {Reduction::sum, Reduction::prod}) {
            for (int const members : {1, 2, 3, 4, 5, 300}) {
                ReductionPayload const payload = ReductionPayload(element, reduction, members).settled();
                std::vector<std::byte> const result = folded(payload, reduction, members, false);
                std::vector<std::byte> expected(result.size());
                payload.result(key, 5, expected);
                EXPECT_EQ(result, expected) << name_of(element) << " " << name_of(reduction) << " " << members;
                EXPECT_EQ(folded(payload, reduction, members, true), expected);
                std::vector<std::byte> again = result;
                for (int member = 1; member < members; ++member) {
                    host_reduce(again.data(), result.data(), result.size(), element, reduction);
                }
                EXPECT_EQ(again, result) << name_of(element) << " " << name_of(reduction) << " " << members;
                for (int member = 0; member < members && members > 1; ++member) {
                    std::vector<std::byte> own(result.size());
                    payload.input(key, member, 5, own);
                    EXPECT_TRUE(members == 300 || own != result) << "rank " << member << " adds nothing";
                }
            }
        }
    }
}

TEST(ReductionPayload, Int8IsComparedWithItsSign) {
    for (Reduction const reduction : all_reductions) {
        ReductionPayload const payload(Element::int8, reduction, 4);
        std::vector<std::byte> result(count);
        payload.result(key, 0, result);
        auto const negative = [](std::byte value) { return static_cast<std::int8_t>(value) < 0; };
        auto const below = std::count_if(result.begin(), result.end(), negative);
        EXPECT_GT(below, 0) << name_of(reduction);
        EXPECT_LT(static_cast<std::size_t>(below), count) << name_of(reduction);
    }
}

TEST(ReductionPayload, APartBeginsAtItsFirstElement) {
    ReductionPayload const payload(Element::bf16, Reduction::sum, 4);
    std::vector<std::byte> whole(100);
    std::vector<std::byte> part(40);
    payload.result(key, 0, whole);
    payload.result(key, 30, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 60));
}

TEST(ReductionPayload, AnotherIterationHasAnotherResult) {
    ReductionPayload const payload(Element::fp8, Reduction::min, 3);  // the fewest different values
    std::vector<std::byte> now(count);
    std::vector<std::byte> before(count);
    payload.result(key, 0, now);
    payload.result(payload_key(every_rank, every_rank, 9, 1), 0, before);
    EXPECT_NE(now, before);
}

// As the kernels compute it, for which nvcc compiles what is constexpr.
TEST(ReductionPayload, AnElementOfTheResultIsConstant) {
    constexpr ReductionPayload payload(Element::byte, Reduction::sum, 6);
    constexpr std::int32_t at_compile_time = payload.result_at(key, 11);
    std::byte at_run_time{};
    payload.result(key, 11, std::span(&at_run_time, 1));
    EXPECT_EQ(at_compile_time, std::to_integer<std::int32_t>(at_run_time));
}

TEST(ReductionBuffers, NameTheFirstWrongElementOfAnyChunk) {
    HostSpace space;
    ReductionBuffers check(space);
    for (Element const element : {Element::byte, Element::bf16, Element::fp64}) {
        constexpr std::size_t elements = 70'000;
        constexpr std::uint64_t first = 11;
        ReductionPayload const payload(element, Reduction::max, 6);
        Bytes const size = size_of(element);
        std::vector<std::byte> result(elements * size);
        payload.result(key, first, result);
        EXPECT_EQ(check.first_wrong(result.data(), elements, payload, key, first), std::nullopt) << name_of(element);
        result.back() ^= std::byte{0x01};
        EXPECT_EQ(check.first_wrong(result.data(), elements, payload, key, first), std::optional<Bytes>(elements - 1));
        result[66'000 * size] ^= std::byte{0x01};
        EXPECT_EQ(check.first_wrong(result.data(), elements, payload, key, first), std::optional<Bytes>(66'000));
    }
}

}  // namespace
}  // namespace dlmb::reduction_payload_test
