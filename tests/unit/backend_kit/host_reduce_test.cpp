// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/element_codec.hpp"
#include "common/backend_kit/host_reduce.hpp"
#include "common/memory/small_float.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace dlmb::host_reduce_test {
namespace {

template <class T>
std::vector<T> reduced(std::vector<T> into, std::vector<T> const& operand, Element element, Reduction reduction) {
    host_reduce(reinterpret_cast<std::byte*>(into.data()), reinterpret_cast<std::byte const*>(operand.data()),
                into.size() * sizeof(T), element, reduction);
    return into;
}

template <class T>
void expect_the_four_reductions(Element element) {
    std::vector<T> const a{T(1), T(6), T(3)};
    std::vector<T> const b{T(5), T(2), T(3)};
    EXPECT_EQ(reduced(a, b, element, Reduction::sum), (std::vector<T>{T(6), T(8), T(6)}));
    EXPECT_EQ(reduced(a, b, element, Reduction::prod), (std::vector<T>{T(5), T(12), T(9)}));
    EXPECT_EQ(reduced(a, b, element, Reduction::min), (std::vector<T>{T(1), T(2), T(3)}));
    EXPECT_EQ(reduced(a, b, element, Reduction::max), (std::vector<T>{T(5), T(6), T(3)}));
}

TEST(HostReduce, DoesAllReductionsOfTheTypesThatCHas) {
    expect_the_four_reductions<std::uint8_t>(Element::byte);
    expect_the_four_reductions<std::int32_t>(Element::int32);
    expect_the_four_reductions<std::int64_t>(Element::int64);
    expect_the_four_reductions<float>(Element::fp32);
    expect_the_four_reductions<double>(Element::fp64);
}

/// All codes against some of every kind; the last three are left over by vectors of 8. Which of two NaNs is the result,
/// compilers decide.
template <class Codec>
void expect_the_bits_of_one_at_a_time(Element element) {
    using Code = typename Codec::Storage;
    std::vector<Code> all(std::size_t{1} << (8 * sizeof(Code)));
    std::iota(all.begin(), all.end(), Code{0});
    all.insert(all.end(), {1, 2, 3});
    for (std::size_t i = 0; i < 32; ++i) {
        auto const code = static_cast<Code>((i + 1) * all.size() / 32 - 1 - i % 2);
        auto const b = Codec::load(code);
        std::vector<Code> const one(all.size(), code);
        std::vector<Code> const sums = reduced(all, one, element, Reduction::sum);
        std::vector<Code> const products = reduced(all, one, element, Reduction::prod);
        std::vector<Code> const least = reduced(all, one, element, Reduction::min);
        for (std::size_t k = 0; k < all.size(); ++k) {
            auto const a = Codec::load(all[k]);
            if (!std::isnan(a) || !std::isnan(b)) {
                ASSERT_EQ(sums[k], Codec::store(a + b)) << all[k] << " and " << code;
                ASSERT_EQ(products[k], Codec::store(a * b)) << all[k] << " and " << code;
            }
            ASSERT_EQ(least[k], Codec::store(b < a ? b : a)) << all[k] << " and " << code;
        }
    }
}

TEST(HostReduce, GivesNarrowFloatsTheBitsOfOneAtATime) {
    expect_the_bits_of_one_at_a_time<SmallFloatCodec<small_float::Fp16, std::uint16_t>>(Element::fp16);
    expect_the_bits_of_one_at_a_time<SmallFloatCodec<small_float::Bf16, std::uint16_t>>(Element::bf16);
    expect_the_bits_of_one_at_a_time<SmallFloatCodec<small_float::Fp8, std::uint8_t>>(Element::fp8);
}

TEST(HostReduce, IntegersWrapWithoutUndefinedBehaviour) {
    auto const most = std::numeric_limits<std::int32_t>::max();
    auto const least = std::numeric_limits<std::int32_t>::min();
    EXPECT_EQ(reduced<std::int32_t>({most}, {1}, Element::int32, Reduction::sum)[0], least);
    EXPECT_EQ(reduced<std::int32_t>({most}, {most}, Element::int32, Reduction::prod)[0], 1);   // (2^31 - 1)^2 mod 2^32
    EXPECT_EQ(reduced<std::int32_t>({least}, {1}, Element::int32, Reduction::min)[0], least);  // signed compare
    EXPECT_EQ(reduced<std::uint8_t>({200}, {100}, Element::byte, Reduction::sum)[0], 44);      // 300 - 256
    EXPECT_EQ(reduced<std::int8_t>({100}, {100}, Element::int8, Reduction::sum)[0], -56);      // 200 - 256
    EXPECT_EQ(reduced<std::int8_t>({-100}, {3}, Element::int8, Reduction::prod)[0], -44);      // -300 + 256
    EXPECT_EQ(reduced<std::int8_t>({-128}, {1}, Element::int8, Reduction::max)[0], 1);         // signed compare
}

TEST(HostReduce, TakesAnyAlignmentAndLeavesTheNeighboursAlone) {
    std::vector<std::byte> into(1 + 3 * sizeof(float) + 1, std::byte{0xEE});
    std::vector<float> const values{1, 2, 3};
    std::memcpy(into.data() + 1, values.data(), 3 * sizeof(float));
    host_reduce(into.data() + 1, reinterpret_cast<std::byte const*>(values.data()), 3 * sizeof(float), Element::fp32,
                Reduction::sum);
    std::vector<float> result(3);
    std::memcpy(result.data(), into.data() + 1, 3 * sizeof(float));
    EXPECT_EQ(result, (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(into.front(), std::byte{0xEE});
    EXPECT_EQ(into.back(), std::byte{0xEE});
}

/// The same element by element, each in a call of its own: no vector loop.
std::vector<std::byte> one_by_one(std::vector<std::byte> const& left, std::vector<std::byte> const& right,
                                  Element element, Reduction reduction) {
    std::vector<std::byte> to(left.size());
    for (Bytes at = 0; at < left.size(); at += size_of(element)) {
        host_reduce(to.data() + at, left.data() + at, right.data() + at, size_of(element), element, reduction);
    }
    return to;
}

TEST(HostReduce, LongLoopsHaveTheBitsOfSingleElementsWhereverTheResultGoes) {
    std::mt19937 random(1);
    for (Element const element : {Element::byte, Element::int32, Element::int64, Element::fp8, Element::fp16,
                                  Element::bf16, Element::fp32, Element::fp64, Element::int8}) {
        for (Reduction const reduction : {Reduction::sum, Reduction::prod, Reduction::min, Reduction::max}) {
            Bytes const bytes = 1003 * size_of(element);
            std::vector<std::byte> left(bytes);
            std::vector<std::byte> right(bytes);
            for (Bytes i = 0; i < bytes; ++i) {
                left[i] = static_cast<std::byte>(random() % 256);
                right[i] = random() % 8 == 0 ? left[i] : static_cast<std::byte>(random() % 256);
            }
            auto const expected = one_by_one(left, right, element, reduction);
            std::string const what = std::string(name_of(element)) + " " + std::string(name_of(reduction));
            std::vector<std::byte> apart(bytes);
            host_reduce(apart.data(), left.data(), right.data(), bytes, element, reduction);
            EXPECT_EQ(apart, expected) << what;
            std::vector<std::byte> into_left = left;
            host_reduce(into_left.data(), into_left.data(), right.data(), bytes, element, reduction);
            EXPECT_EQ(into_left, expected) << what << " into the left operand";
            host_reduce(right.data(), left.data(), right.data(), bytes, element, reduction);
            EXPECT_EQ(right, expected) << what << " into the right operand";
        }
    }
}

}  // namespace
}  // namespace dlmb::host_reduce_test
