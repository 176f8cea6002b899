// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Flare (arXiv 2106.15565): each host sends and receives Z, and the order of the additions is that of the arrivals or a
// fixed tree. How many bit patterns that gives over many executions: tests/unit/measure/bit_patterns_test.cpp.
#include "common/backends/in_process/aggregator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace dlmb::in_process::testing {
namespace {

constexpr std::array<float, 3> operands{1e8F, 1, -1e8F};

// The orders of arrival themselves, without threads: 1e8 + 1 is 1e8 in fp32.
TEST(Switch, SumsInTheOrderItIsGiven) {
    auto const sum = [](Aggregation how, std::array<std::size_t, 3> const& order) {
        Aggregator aggregator(how, 3, sizeof(float), Element::fp32, Reduction::sum);
        for (std::size_t const place : order) {
            EXPECT_FALSE(aggregator.complete(1));
            aggregator.send(place, 1, std::as_bytes(std::span(&operands.at(place), 1)).data());
        }
        EXPECT_TRUE(aggregator.complete(1));
        float result = 0;
        aggregator.receive(0, 1, std::as_writable_bytes(std::span(&result, 1)).data());
        return result;
    };
    EXPECT_EQ(sum(Aggregation::single, {0, 1, 2}), 0);
    EXPECT_EQ(sum(Aggregation::single, {0, 2, 1}), 1);
    EXPECT_EQ(sum(Aggregation::tree, {0, 1, 2}), 0);
    EXPECT_EQ(sum(Aggregation::tree, {2, 0, 1}), 0);
}

// Z out and Z in, whatever the number of hosts; a ring moves 2 Z (P - 1) / P each way.
TEST(Switch, EachHostSendsAndReceivesItsBytesOnce) {
    constexpr Bytes z = 64;
    for (Aggregation const how : {Aggregation::single, Aggregation::tree}) {
        Aggregator aggregator(how, 5, z, Element::fp32, Reduction::sum);
        std::array<std::byte, z> data{};
        for (std::uint64_t iteration = 1; iteration <= 3; ++iteration) {
            for (std::size_t place = 0; place < 5; ++place) {
                aggregator.send(place, iteration, data.data());
            }
            for (std::size_t place = 0; place < 5; ++place) {
                aggregator.receive(place, iteration, data.data());
                EXPECT_EQ(aggregator.traffic_of(place).sent, iteration * z);
                EXPECT_EQ(aggregator.traffic_of(place).received, iteration * z);
            }
        }
    }
}

}  // namespace
}  // namespace dlmb::in_process::testing
