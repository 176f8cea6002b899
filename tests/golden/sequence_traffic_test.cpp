// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic of published long-sequence settings.
#include "patterns/sequence_parallel/sequence_parallel.hpp"
#include "tests/unit/patterns/pattern_under_test.hpp"

#include <gtest/gtest.h>

namespace dlmb::sequence_parallel {
namespace {

constexpr TypeUnderTest sp{type};

Bytes sent_to(Exchange const& exchange, Rank peer) {
    return exchange.send.at(static_cast<std::size_t>(peer)).bytes;
}

Bytes sent_off_rank(Plan const& plan, std::string_view label) {
    Bytes sum = 0;
    for (Step const& step : plan.steps) {
        if (std::string_view(step.label).substr(0, label.size()) != label) {
            continue;
        }
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            for (Block const& block : exchange->send) {
                sum += block.peer == plan.me ? 0 : block.bytes;
            }
        } else if (auto const* send = std::get_if<Send>(&step.operation)) {
            sum += send->to.bytes;
        }
    }
    return sum;
}

Exchange const& first_exchange(Plan const& plan) {
    return std::get<Exchange>(plan.steps.at(0).operation);
}

// DeepSpeed Ulysses, b 1, s 65536, h 8192, P 8: local b * s / P * h * 2 B, per peer that / P, four exchanges.
TEST(SequenceTraffic, Ulysses64KOnEightRanks) {
    Plan const plan = sp.plan("ulysses-64k", {}, {8, 8});
    ASSERT_EQ(first_exchange(plan).send.size(), 8U);
    EXPECT_EQ(8 * sent_to(first_exchange(plan), 3), 134'217'728U);
    EXPECT_EQ(sent_to(first_exchange(plan), 3), 16'777'216U);
    EXPECT_EQ(sent_off_rank(plan, "forward"), 469'762'048U);
    EXPECT_EQ(sent_off_rank(plan, "backward"), 469'762'048U);
}

// s 131072, h 4096, P 32.
TEST(SequenceTraffic, Ulysses128KOn32Ranks) {
    Plan const plan = sp.plan("ulysses-128k", {}, {32, 8});
    EXPECT_EQ(32 * sent_to(first_exchange(plan), 31), 33'554'432U);
    EXPECT_EQ(sent_to(first_exchange(plan), 31), 1'048'576U);
}

// Eight key-value heads instead of 32: k and v are a quarter of q and out.
TEST(SequenceTraffic, GroupedQueriesMakeKeysSmaller) {
    Plan const plan = sp.plan("llama3-8b-ulysses-128k", {}, {8, 8});
    EXPECT_EQ(sent_off_rank(plan, "forward.q"), 4 * sent_off_rank(plan, "forward.k"));
    EXPECT_EQ(sent_off_rank(plan, "forward.k"), sent_off_rank(plan, "forward.v"));
    EXPECT_EQ(sent_off_rank(plan, "forward.q"), sent_off_rank(plan, "forward.out"));
}

// ring-flash-attention, b 1, s 131072, P 8, 8 key-value heads of 128: k and v of 33,554,432 B in each of 7 steps.
TEST(SequenceTraffic, Ring128KOnEightRanks) {
    Plan const plan = sp.plan("llama3-8b-ring-128k", {}, {8, 8});
    EXPECT_EQ(std::get<Send>(plan.steps.at(0).operation).to.bytes, 33'554'432U);
    EXPECT_EQ(sent_off_rank(plan, "forward.kv"), 469'762'048U);
    EXPECT_EQ(sent_off_rank(plan, "forward.kv") / 7, 67'108'864U);
    EXPECT_EQ(sent_off_rank(plan, "backward.kv"), 469'762'048U);
}

// dk and dv make 8 steps; 536,870,912 B in bf16, twice that in fp32, in which ring-flash-attention adds them up.
TEST(SequenceTraffic, GradientsOfRing128KOnEightRanks) {
    EXPECT_EQ(sent_off_rank(sp.plan("llama3-8b-ring-128k", {{"gradient-element", "bf16"}}, {8, 8}), "backward.dkv"),
              536'870'912U);
    EXPECT_EQ(sent_off_rank(sp.plan("llama3-8b-ring-128k", {}, {8, 8}), "backward.dkv"), 1'073'741'824U);
}

}  // namespace
}  // namespace dlmb::sequence_parallel
