// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Flare (arXiv 2106.15565): with fp32 values (1e8, 1, -1e8, ...) a switch that adds in a fixed tree gives one bit
// pattern over 200 jittered executions, one that adds in the order of arrival at least two; each host sends and
// receives Z.
#include "common/backends/in_process/aggregator.hpp"
#include "common/base/philox.hpp"
#include "common/formats/plan/builder.hpp"
#include "tests/unit/in_process/in_process_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <set>
#include <span>
#include <thread>

namespace dlmb::in_process::testing {
namespace {

constexpr std::array<float, 8> operands{1e8F, 1, -1e8F, 1, 1e8F, 3, -1e8F, 0.5F};
constexpr int hosts = 4;

/// The bits of one allreduce of a value of each rank, over 200 executions in which ranks come at random times.
std::set<std::uint32_t> patterns_of(char const* method) {
    std::set<std::uint32_t> patterns;
    run_test_ranks(hosts, [&](TestRank& rank) {
        PlanBuilder builder(rank.rank());
        Group all;
        all.members.resize(hosts);
        std::iota(all.members.begin(), all.members.end(), 0);
        (void)builder.all_reduce(builder.group(all), 8, Element::fp32, Reduction::sum, "sum");
        Plan const plan = std::move(builder).finish();
        Buffers const& buffers = rank.allocate(plan);
        auto const compiled = std::move(rank.backend().compile(plan, buffers, {method, {}})).value();
        auto const& step = std::get<Collective>(plan.steps[0].operation);
        RandomSequence jitter(1, 0, static_cast<std::uint32_t>(rank.rank()), 0);
        for (int execution = 0; execution < 200; ++execution) {
            std::memcpy(buffers.base[step.send.buffer] + step.send.offset,
                        &operands.at(static_cast<std::size_t>(rank.rank())), sizeof(float));
            rank.bootstrap().barrier();
            std::this_thread::sleep_for(std::chrono::microseconds(below(jitter.next(), 300)));
            compiled->launch();
            compiled->finish();
            if (rank.rank() == 0) {
                std::uint32_t bits = 0;
                std::memcpy(&bits, buffers.base[step.recv.buffer] + step.recv.offset, sizeof bits);
                patterns.insert(bits);
            }
        }
    });
    return patterns;
}

TEST(Switch, TreeGivesOneBitPatternWhoeverComesFirst) {
    EXPECT_EQ(patterns_of("switch_tree").size(), 1U);
    EXPECT_EQ(patterns_of("copy").size(), 1U);
}

TEST(Switch, OrderOfArrivalGivesSeveralBitPatterns) {
    EXPECT_GE(patterns_of("switch_single").size(), 2U);
}

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
