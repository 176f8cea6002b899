// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/traffic.hpp"
#include "tests/unit/plan/plan_sets.hpp"

#include <gtest/gtest.h>

#include <array>

namespace dlmb {
namespace {

std::vector<RankTraffic> traffic_of_all(std::vector<Plan> const& plans) {
    std::vector<RankTraffic> traffic;
    traffic.reserve(plans.size());
    for (Plan const& plan : plans) {
        traffic.push_back(traffic_of(plan));
    }
    return traffic;
}

/// One collective on every rank of the world.
template <class Add>
std::vector<RankTraffic> collective(int ranks, Add const& add) {
    return traffic_of_all(test::plans_of(ranks, add));
}

/// By world rank: what the plan's exchanges and sends have for it.
std::vector<Bytes> sent_bytes(Plan const& plan, std::size_t ranks, std::string_view phase = "") {
    std::vector<Bytes> row(ranks);
    add_sent_bytes(plan, phase, row);
    return row;
}

TEST(Traffic, OfAUniformExchangeIncludingSelf) {
    // Four ranks, 1 MiB per pair, 100 us: a rank's row is 4 MiB -> 41.943 GB/s; 3 MiB leave it -> 31.457 GB/s.
    constexpr Bytes mib = 1048576;
    auto const traffic = traffic_of_all(test::exchange_plans(4, [](Rank, Rank) { return mib; }));
    RankTraffic const expected{.payload = 4 * mib,
                               .out = 3 * mib,
                               .in = 3 * mib,
                               .send_total = 4 * mib,
                               .recv_total = 4 * mib,
                               .messages = 3,
                               .self = mib};
    EXPECT_EQ(traffic, std::vector<RankTraffic>(4, expected));
    TrafficSummary const summary = summarize(traffic);
    EXPECT_EQ(summary.payload_bytes, 16 * mib);
    EXPECT_EQ(summary.wire_bytes, 12 * mib);
    EXPECT_EQ(summary.self_bytes, 4 * mib);
    Bandwidth const at_100_us = bandwidth(summary, 100'000);
    EXPECT_NEAR(at_100_us.algbw_GBps, 41.943, 0.0005);
    EXPECT_NEAR(at_100_us.busbw_GBps, 31.457, 0.0005);
    EXPECT_DOUBLE_EQ(at_100_us.aggregate_GBps, 125.82912);  // 12 * 1048576 B
}

TEST(Traffic, OfASkewedExchange) {
    // Worked example: B = [[8,4,0],[2,0,2],[1,9,0]] MB in 1 ms. Without self: out 4 4 10, in 3 13 2; with self rows
    // 12 4 10 and columns 11 13 2. max(out, in) is 4 13 10, mean 9; mean of out and of in is 6.
    constexpr std::array<std::array<Bytes, 3>, 3> mb{{{8, 4, 0}, {2, 0, 2}, {1, 9, 0}}};
    auto const traffic = traffic_of_all(test::exchange_plans(3, [&](Rank from, Rank to) {
        return mb.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to)) * 1'000'000;
    }));
    constexpr Bytes million = 1'000'000;
    EXPECT_EQ(traffic[0].out, 4 * million);
    EXPECT_EQ(traffic[1].out, 4 * million);
    EXPECT_EQ(traffic[2].out, 10 * million);
    EXPECT_EQ(traffic[0].in, 3 * million);
    EXPECT_EQ(traffic[1].in, 13 * million);
    EXPECT_EQ(traffic[2].in, 2 * million);
    EXPECT_EQ(traffic[0].self, 8 * million);
    TrafficSummary const summary = summarize(traffic);
    EXPECT_EQ(summary.busiest_rank_bytes, 13 * million);
    EXPECT_EQ(summary.largest_total_bytes, 13 * million);
    EXPECT_DOUBLE_EQ(summary.balanced_rank_bytes, 9e6);
    EXPECT_NEAR(summary.imbalance_send, 1.667, 0.0005);
    EXPECT_NEAR(summary.imbalance_recv, 2.167, 0.0005);
    Bandwidth const at_1_ms = bandwidth(summary, 1e6);
    EXPECT_DOUBLE_EQ(at_1_ms.algbw_GBps, 13);
    EXPECT_DOUBLE_EQ(at_1_ms.busbw_GBps, 13);
    EXPECT_DOUBLE_EQ(at_1_ms.aggregate_GBps, 18);
}

TEST(Traffic, OfAnExchangeAboveFourGibibytes) {
    // deepseek-v3 expanded with 32768 tokens: 32768 * 8 rows of 14336 B = 3758096384 B per rank; here from two ranks
    // to one another's and their own half, with four times the tokens: 2 * 7516192768 B per rank.
    constexpr Bytes half = 7'516'192'768;
    auto const traffic = traffic_of_all(test::exchange_plans(2, [](Rank, Rank) { return half; }));
    EXPECT_EQ(traffic[0].payload, 15'032'385'536U);
    EXPECT_EQ(traffic[0].out, half);
    EXPECT_EQ(summarize(traffic).payload_bytes, 30'064'771'072U);
}

TEST(Traffic, OfOneRankOrOfNothingIsFinite) {
    for (Bytes const bytes : {Bytes{0}, Bytes{100}}) {
        TrafficSummary const summary =
            summarize(traffic_of_all(test::exchange_plans(1, [=](Rank, Rank) { return bytes; })));
        EXPECT_EQ(summary.wire_bytes, 0U);
        EXPECT_EQ(summary.self_bytes, bytes);
        EXPECT_EQ(summary.busiest_rank_bytes, 0U);
        EXPECT_DOUBLE_EQ(summary.imbalance_send, 1);
        EXPECT_DOUBLE_EQ(summary.imbalance_recv, 1);
    }
    EXPECT_DOUBLE_EQ(summarize({}).balanced_rank_bytes, 0);
    EXPECT_DOUBLE_EQ(bandwidth(TrafficSummary{.busiest_rank_bytes = 5}, 0).busbw_GBps, 0);
}

TEST(Traffic, OfAnAllReduceIsTwiceAllButOneShare) {
    auto const add = [](PlanBuilder& builder, GroupId all) {
        builder.all_reduce(all, 1000, Element::fp32, Reduction::sum, "sum");
    };
    EXPECT_EQ(collective(1, add).at(0).out, 0U);
    RankTraffic const four = collective(4, add).at(3);
    // Chunks of 252, 252, 248 and 248 B. Rank 3 sends all twice but its own and that of rank 0 once, and receives all
    // but those of ranks 2 and 3. The factor, 2 * 1000 * 3 / 4, is that of equal chunks.
    EXPECT_EQ(four.out, 1500U);
    EXPECT_EQ(four.in, 1504U);
    EXPECT_DOUBLE_EQ(static_cast<double>(four.in) + four.optimal_in, 1500);
    EXPECT_EQ(four.payload, 1000U);
    EXPECT_EQ(four.send_total, 1000U);
    // 250 elements are chunks of 84, 83 and 83; rank 0 sends each twice but its own and the next one once.
    EXPECT_EQ(collective(3, add).at(0).out, 1332U);
    EXPECT_EQ(summarize(collective(3, add)).wire_bytes, 4000U);  // 2 * 1000 * (3 - 1)
}

TEST(Traffic, OfOneByteAmongFourRanksHasTheFactorOfAnyAllReduce) {
    auto const summary = summarize(collective(4, [](PlanBuilder& builder, GroupId all) {
        builder.all_reduce(all, 1, Element::int8, Reduction::sum, "sum");
    }));
    EXPECT_DOUBLE_EQ(bandwidth(summary, 1).busbw_GBps, 1.5);  // 2 (4 - 1) / 4 bytes in a nanosecond
    EXPECT_EQ(summary.wire_bytes, 6U);                        // of the ring: 2 * 1 * (4 - 1)
    EXPECT_DOUBLE_EQ(summary.imbalance_send, 1);
}

TEST(Traffic, OfAnAllReduceDoesNotOverflow) {
    // 2 * 2^62 * 3 is above 2^64, the result 1.5 * 2^62 is not.
    constexpr Bytes huge = Bytes{1} << 62;
    auto const traffic = collective(4, [](PlanBuilder& builder, GroupId all) {
        builder.all_reduce(all, huge, Element::fp32, Reduction::sum, "sum");
    });
    EXPECT_EQ(traffic[0].out, huge / 2 * 3);
}

TEST(Traffic, OfGatherAndScatterIsAllButOneShare) {
    for (int const ranks : {1, 2, 5}) {
        Bytes const whole = 40 * static_cast<Bytes>(ranks);
        for (RankTraffic const &traffic : collective(ranks, [&](PlanBuilder&builder, GroupId all) {
                 builder.all_gather(all, whole, Element::fp32, "gather");
             })) {
            EXPECT_EQ(traffic.out, whole - 40);
            EXPECT_EQ(traffic.payload, whole);
            EXPECT_EQ(traffic.self, 40U);
        }
        for (RankTraffic const &traffic : collective(ranks, [&](PlanBuilder&builder, GroupId all) {
                 builder.reduce_scatter(all, whole, Element::fp32, Reduction::sum, "scatter");
             })) {
            EXPECT_EQ(traffic.in, whole - 40);
            EXPECT_EQ(traffic.payload, whole);
            EXPECT_EQ(traffic.self, 40U);
        }
    }
}

TEST(Traffic, OfWholeBuffersLeavesOrEntersTheRoot) {
    auto const broadcast = [](PlanBuilder& builder, GroupId all) { builder.broadcast(all, 0, 50, Element::byte, "b"); };
    RankTraffic const in{.in = 50, .recv_total = 50};
    EXPECT_EQ(collective(3, broadcast),
              (std::vector<RankTraffic>{{.payload = 50, .out = 50, .send_total = 50}, in, in}));
    EXPECT_EQ(collective(1, broadcast).at(0).out, 0U);
    EXPECT_EQ(summarize(collective(3, broadcast)).wire_bytes, 100U) << "two ranks receive it";
    auto const reduce = [](PlanBuilder& builder, GroupId all) {
        builder.reduce(all, 0, 48, Element::int8, Reduction::sum, "r");
    };
    RankTraffic const out{.payload = 48, .out = 48, .send_total = 48};
    EXPECT_EQ(collective(3, reduce),
              (std::vector<RankTraffic>{{.payload = 48, .in = 48, .send_total = 48, .recv_total = 48}, out, out}));
    EXPECT_EQ(collective(1, reduce).at(0).in, 0U);
    auto const barrier = [](PlanBuilder& builder, GroupId all) { builder.barrier(all, "b"); };
    EXPECT_EQ(collective(3, barrier), std::vector<RankTraffic>(3));
}

TEST(Traffic, OfPartsIsWhatTheyHold) {
    std::vector<Bytes> const shares{4, 0, 12};
    auto const gathered = collective(
        3, [&](PlanBuilder& builder, GroupId all) { builder.gather(all, 2, SharedBytes(shares), Element::fp32, "g"); });
    EXPECT_EQ(gathered,
              (std::vector<RankTraffic>{{.payload = 4, .out = 4, .send_total = 4},
                                        {},
                                        {.payload = 12, .in = 4, .send_total = 12, .recv_total = 16, .self = 12}}));
    auto const scattered = collective(3, [&](PlanBuilder& builder, GroupId all) {
        builder.scatter(all, 2, SharedBytes(shares), Element::fp32, "s");
    });
    EXPECT_EQ(scattered[0], (RankTraffic{.in = 4, .recv_total = 4}));
    EXPECT_EQ(scattered[2], (RankTraffic{.payload = 16, .out = 4, .send_total = 16, .recv_total = 12, .self = 12}));
    // A rank lacks all but its own part of a gathered buffer, and has to hand on all but its own of an unreduced one.
    auto const all_gathered = collective(3, [&](PlanBuilder& builder, GroupId all) {
        builder.all_gather(all, SharedBytes(shares), Element::fp32, "a");
    });
    EXPECT_EQ(all_gathered[2].in, 4U);
    EXPECT_EQ(all_gathered[2].self, 12U);
    EXPECT_EQ(all_gathered[1].in, 16U);
    auto const reduced = collective(3, [&](PlanBuilder& builder, GroupId all) {
        builder.reduce_scatter(all, SharedBytes(shares), Element::fp32, Reduction::sum, "r");
    });
    EXPECT_EQ(reduced[2].out, 4U);
    EXPECT_EQ(reduced[2].self, 12U);
    EXPECT_EQ(reduced[1].out, 16U);
}

TEST(Traffic, OfAPhaseAddsUpToThatOfThePlan) {
    for (Plan const& plan : test::mixed_plans()) {
        RankTraffic const whole = traffic_of(plan);
        Bytes out = 0;
        Bytes payload = 0;
        for (char const* phase :
             {"route", "dispatch", "combine", "gather", "reduce", "scatter", "broadcast", "forward", "rooted"}) {
            out += traffic_of(plan, phase).out;
            payload += traffic_of(plan, phase).payload;
        }
        EXPECT_EQ(out, whole.out);
        EXPECT_EQ(payload, whole.payload);
        EXPECT_EQ(
            traffic_of(plan, "forward"),
            (RankTraffic{.payload = 300, .out = 300, .in = 300, .send_total = 300, .recv_total = 300, .messages = 1}));
        EXPECT_EQ(traffic_of(plan, "route"), RankTraffic{}) << "computing moves nothing";
        EXPECT_EQ(traffic_of(plan, "disp"), RankTraffic{}) << "a phase is a whole word";
        EXPECT_EQ(traffic_of_step(plan, test::mixed::dispatch), traffic_of(plan, "dispatch"));
    }
}

TEST(Traffic, APhaseTakesTheStepsWithASuffix) {
    std::vector<Plan> plans = test::exchange_plans(2, [](Rank, Rank) { return Bytes{8}; });
    plans[0].steps[0].label = "dispatch.node";
    EXPECT_EQ(traffic_of(plans[0], "dispatch").out, 8U);
}

TEST(Traffic, OfAWindowIsThatOfItsMessages) {
    constexpr Bytes bytes = Bytes{3} << 30;
    for (MessageWindow const& window : {MessageWindow{64, 0}, MessageWindow{64, bytes}}) {
        PlanBuilder builder(0);
        builder.send(builder.group({{0, 1}}), 1, bytes, 0, -1, "w", {}, window);
        Plan const plan = std::move(builder).finish();
        RankTraffic const traffic = traffic_of(plan);
        EXPECT_EQ(traffic.out, 64 * bytes);
        EXPECT_EQ(traffic.payload, 64 * bytes);
        EXPECT_EQ(traffic.messages, 64U);
        EXPECT_EQ(sent_bytes(plan, 2), (std::vector<Bytes>{0, 64 * bytes}));
        EXPECT_EQ(plan.buffers[0].bytes, window.stride == 0 ? bytes : 64 * bytes);
    }
}

TEST(Traffic, OfEachPairIsThatOfExchangesAndSends) {
    Plan const plan = test::mixed_plans().front();
    EXPECT_EQ(sent_bytes(plan, 4, "dispatch"), (std::vector<Bytes>{1000, 1001, 1002, 1003}));
    EXPECT_EQ(sent_bytes(plan, 4, "combine"), (std::vector<Bytes>{1000, 2000, 3000, 4000}));
    EXPECT_EQ(sent_bytes(plan, 4), (std::vector<Bytes>{2000, 3001 + 300, 4002, 5003})) << "and 300 B to the next rank";
    Plan permuted = test::exchange_plans(2, [](Rank, Rank to) { return to == 0 ? Bytes{5} : Bytes{7}; }).front();
    permuted.groups[0].members = {1, 0};
    EXPECT_EQ(sent_bytes(permuted, 2), (std::vector<Bytes>{7, 5})) << "group rank 0 is world rank 1";
}

}  // namespace
}  // namespace dlmb
