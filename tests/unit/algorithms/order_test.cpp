// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The order of operands: the same on every place, also where it decides the result's bits.
#include "tests/unit/algorithms/simulation.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace dlmb::algorithms::order_test {
namespace {

struct Case {
    char const* name;
    Algorithm algorithm;
    Knobs knobs = {};
};

constexpr Case all_reduces[] = {{"recursive_doubling", recursive_doubling},
                                {"ring", ring, {0, 16}},
                                {"knomial 2", knomial, {2, 0}},
                                {"knomial 3", knomial, {3, 0}}};

/// Random bit patterns: numbers of all magnitudes, infinities, NaNs and zeros of both signs.
std::vector<std::vector<std::byte>> random_bits(int places, Bytes bytes) {
    std::mt19937 random(static_cast<unsigned>(places));
    std::vector<std::vector<std::byte>> inputs(static_cast<std::size_t>(places), std::vector<std::byte>(bytes));
    for (std::vector<std::byte>& input : inputs) {
        for (std::byte& each : input) {
            auto const bits = static_cast<std::uint8_t>(random());
            each = random() % 4 == 0 ? std::byte{0x80} : static_cast<std::byte>(bits);
        }
    }
    return inputs;
}

TEST(ReductionOrder, IsTheSameToTheBitOnEveryPlaceForEveryElementAndReduction) {
    for (Case const& each : all_reduces) {
        for (int const places : {2, 3, 5, 8, 13}) {
            for (Element const element : {Element::byte, Element::int32, Element::int64, Element::fp8, Element::fp16,
                                          Element::bf16, Element::fp32, Element::fp64}) {
                for (Reduction const reduction : {Reduction::sum, Reduction::prod, Reduction::min, Reduction::max}) {
                    Shape shape;
                    shape.places = places;
                    shape.element = element;
                    shape.bytes = 43 * size_of(element);
                    Outcome const outcome = simulate(each.algorithm, shape, each.knobs, reduction,
                                                     random_bits(places, shape.bytes), Protocol::rendezvous, 1);
                    ASSERT_EQ(outcome.problem, "");
                    for (std::vector<std::byte> const& output : outcome.outputs) {
                        ASSERT_EQ(output, outcome.outputs.front()) << each.name << ", " << places << " places, "
                                                                   << name_of(element) << " " << name_of(reduction);
                    }
                }
            }
        }
    }
}

/// What `algorithm` makes of one fp32 element per place, two of a kind per part.
std::vector<float> summed(Algorithm algorithm, Knobs const& knobs, std::vector<float> const& operands) {
    Shape shape;
    shape.places = static_cast<int>(operands.size());
    shape.element = Element::fp32;
    shape.bytes = operands.size() * sizeof(float);
    std::vector<std::vector<std::byte>> inputs;
    for (float const operand : operands) {
        std::vector<float> const row(operands.size(), operand);
        auto const* const first = reinterpret_cast<std::byte const*>(row.data());
        inputs.emplace_back(first, first + shape.bytes);
    }
    Outcome const outcome = simulate(algorithm, shape, knobs, Reduction::sum, inputs, Protocol::eager, 1);
    std::vector<float> result(operands.size());
    std::memcpy(result.data(), outcome.outputs.front().data(), shape.bytes);
    return result;
}

// 2^25 has a step of 4 in fp32: 2^25 + 1 is 2^25, and 2^25 + 3 is 2^25 + 4.
constexpr float large = 33554432.0F;

TEST(ReductionOrder, OfRecursiveDoublingJoinsNeighbouringRanges) {
    // (large + 1) + (1 + 1) = large + 2, a tie that goes to the even step: large.
    EXPECT_EQ(summed(recursive_doubling, {}, {large, 1, 1, 1}), std::vector<float>(4, large));
    // (1 + 1) + (1 + large) the same; with five places the first two are one: ((2 + 2) + (2 + 2)) + large.
    EXPECT_EQ(summed(recursive_doubling, {}, {2, 2, 2, 2, large}), std::vector<float>(5, large + 8));
}

TEST(ReductionOrder, OfTheRingStartsBehindThePartsPlaceAndEndsThere) {
    // Part 0: ((1 + 1) + 1) + large = large + 4. Part 1: ((1 + 1) + large) + 1: large + 2 is large, and + 1 too.
    // Part 2: ((1 + large) + 1) + 1 = large. Part 3: ((large + 1) + 1) + 1 = large.
    EXPECT_EQ(summed(ring, {}, {large, 1, 1, 1}), (std::vector<float>{large + 4, large, large, large}));
}

TEST(ReductionOrder, OfKnomialGoesByPlaceInsideARange) {
    // One range of four: ((1 + 1) + 1) + large; from the left in the other order nothing is gained.
    EXPECT_EQ(summed(knomial, {4, 0}, {1, 1, 1, large}), std::vector<float>(4, large + 4));
    EXPECT_EQ(summed(knomial, {4, 0}, {large, 1, 1, 1}), std::vector<float>(4, large));
}

}  // namespace
}  // namespace dlmb::algorithms::order_test
