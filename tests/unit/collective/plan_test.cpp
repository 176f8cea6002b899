// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/builder.hpp"
#include "tests/unit/collective/collective_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace dlmb::collective {
namespace {

/// One rank has no pair.
std::vector<int> ranks_of(std::string_view operation) {
    auto const info = std::find_if(std::begin(kind_table), std::end(kind_table),
                                   [&](KindInfo const& each) { return each.name == operation; });
    return info->windows ? std::vector{2, 3, 4, 6, 7, 8} : std::vector{1, 2, 3, 4, 6, 7, 8};
}

TEST(CollectivePlan, EveryOperationOfEverySizeIsConsistent) {
    for (std::string_view const operation : kind_names) {
        for (int const ranks : ranks_of(operation)) {
            for (char const* size : {"0", "8", "1000", "65536"}) {
                for (char const* element : {"byte", "fp32", "fp64"}) {
                    EXPECT_EQ(problem_of(plans_of({{"operation", std::string(operation)},
                                                   {"message-size", size},
                                                   {"element", element},
                                                   {"skew", "zipf:1"}},
                                                  {ranks, 2})),
                              "")
                        << operation << ", " << ranks << " ranks, " << size << " B, " << element;
                }
            }
        }
    }
}

TEST(CollectivePlan, InPlaceIsConsistent) {
    for (KindInfo const& info : kind_table) {
        for (int const ranks : {info.windows ? 2 : 1, 3, 8}) {
            Parameters const in_place{{"operation", std::string(info.name)},
                                      {"in-place", info.in_place ? "on" : "off"},
                                      {"root", std::to_string(ranks - 1)},
                                      {"skew", info.kind == Kind::alltoallv ? "balanced" : "zipf:1"}};
            EXPECT_EQ(problem_of(plans_of(in_place, {ranks, 8})), "") << info.name << ", " << ranks << " ranks";
        }
    }
}

TEST(CollectivePlan, AnExchangeInPlaceHasOneBufferOnAllRanksOrOnNone) {
    Parameters const asked{{"operation", "alltoallv"}, {"in-place", "on"}, {"skew", "neighbors:1:1"}};
    std::vector<Plan> plans = plans_of(asked, {5, 5});
    for (Plan const& plan : plans) {
        auto const& exchange = std::get<Exchange>(plan.steps.front().operation);
        EXPECT_TRUE(exchange.in_place());
        EXPECT_EQ(exchange.send.size(), 2U);
        EXPECT_EQ(plan.buffers.size(), 1U);
    }
    EXPECT_EQ(problem_of(plans), "");
    Parameters apart = asked;
    apart["in-place"] = "off";
    plans[2] = plans_of(apart, {5, 5})[2];
    EXPECT_NE(problem_of(plans).find("is not in place, that of rank 0 is"), std::string::npos);
}

TEST(CollectivePlan, SixtyFourRanksAndSizesAbove32BitsAreConsistent) {
    for (std::string_view const operation : kind_names) {
        Parameters parameters{{"operation", std::string(operation)}, {"skew", "lognormal:0.4"}};
        EXPECT_EQ(problem_of(plans_of(parameters, {64, 8})), "") << operation;
        parameters["message-size"] = "6G";
        std::vector<Plan> const plans = plans_of(parameters, {4, 4});
        EXPECT_EQ(problem_of(plans), "") << operation;
        for (Step const& step : plans[0].steps) {
            EXPECT_EQ(phase_of(step.label), operation);
        }
    }
    auto const gather = plans_of({{"operation", "allgather"}, {"message-size", "6G"}}, {4, 4});
    EXPECT_EQ(operation_of<OperationKind::all_gather>(gather[0]).bytes, Bytes{24} << 30);
}

TEST(CollectivePlan, OnlyVectorFormsNameTheirParts) {
    WorldShape const world{4, 4};
    auto const shares = [&](char const* operation, char const* skew) {
        auto const plans = plans_of({{"operation", operation}, {"skew", skew}, {"element", "fp32"}}, world);
        return std::visit(
            [](auto const& step) {
                if constexpr (requires { step.shares; }) {
                    return step.shares;
                } else {
                    return std::vector<Bytes>{};
                }
            },
            plans[2].steps.at(0).operation);
    };
    for (KindInfo const& info : kind_table) {
        EXPECT_EQ(!shares(info.name.data(), "balanced").empty(), info.shares) << info.name;
    }
    // 4 parts of 1024 B, the first four times as long as the others: 4096 * 4 / 7 and / 7, in whole fp32.
    EXPECT_EQ(shares("gatherv", "hot_rank:4"), (std::vector<Bytes>{2340, 588, 584, 584}));
    EXPECT_EQ(shares("reduce_scatter", "hot_rank:4"), (std::vector<Bytes>{584, 148, 148, 144}));
}

// osu_reduce_scatter: the first ranks have one element more.
TEST(CollectivePlan, AReduceScatterKeepsItsSizeWhateverTheRanks) {
    auto const plans = plans_of({{"operation", "reduce_scatter"}, {"message-size", "40"}, {"element", "fp32"}}, {4, 4});
    EXPECT_EQ(operation_of<OperationKind::reduce_scatter>(plans[3]).shares, (std::vector<Bytes>{12, 12, 8, 8}));
    auto const few = plans_of({{"operation", "reduce_scatter"}, {"message-size", "8"}, {"element", "fp32"}}, {4, 4});
    EXPECT_EQ(operation_of<OperationKind::reduce_scatter>(few[3]).shares, (std::vector<Bytes>{4, 4, 0, 0}));
}

TEST(CollectivePlan, ABarrierHasNoSize) {
    auto const plans = plans_of({{"operation", "barrier"}}, {3, 3});
    EXPECT_TRUE(std::holds_alternative<Barrier>(plans[1].steps.at(0).operation));
    EXPECT_TRUE(plans[1].buffers.empty());
}

TEST(CollectivePlan, AReduceScatterBlockIsRoundedUpToWholeElementsPerRank) {
    auto const bytes = [](char const* size, char const* element, int ranks) {
        auto const plans = plans_of(
            {{"operation", "reduce_scatter_block"}, {"message-size", size}, {"element", element}}, {ranks, ranks});
        return operation_of<OperationKind::reduce_scatter>(plans[0]).bytes;
    };
    EXPECT_EQ(bytes("8", "fp32", 4), 16U);
    EXPECT_EQ(bytes("1000", "fp64", 7), 1008U);  // 18 numbers for each of 7 ranks
    EXPECT_EQ(bytes("1024", "byte", 8), 1024U);
    EXPECT_EQ(bytes("0", "fp32", 3), 0U);
}

// nccl-tests' sendrecv: to the next rank, from the one before, in one group call.
TEST(CollectivePlan, ASendrecvGoesAroundTheRing) {
    Plan const plan = plans_of({{"operation", "sendrecv"}}, {5, 5})[4];
    auto const& send = std::get<Send>(plan.steps.at(0).operation);
    auto const& recv = std::get<Recv>(plan.steps.at(1).operation);
    EXPECT_EQ(send.to.peer, 0);
    EXPECT_EQ(recv.from.peer, 3);
    EXPECT_EQ(send.batch, recv.batch);
    EXPECT_TRUE(plan.steps[1].after.empty());
}

TEST(CollectivePlan, APongWaitsForItsPing) {
    auto const plans = plans_of({{"operation", "sendrecv"}, {"route", "ping_pong"}}, {4, 4});
    EXPECT_EQ(problem_of(plans), "");
    EXPECT_EQ(std::get<Send>(plans[1].steps.at(0).operation).to.peer, 3);
    EXPECT_EQ(std::get<Send>(plans[3].steps.at(1).operation).to.peer, 1);
    EXPECT_EQ(plans[3].steps[1].after, std::vector<StepId>{0});
}

// osu_latency_mt.c: a thread of the first rank and a thread of the second have a tag for themselves.
TEST(CollectivePlan, PingPongsOfSeveralChannelsDoNotWaitForEachOther) {
    auto const plans = plans_of({{"operation", "sendrecv"}, {"route", "ping_pong"}, {"channels", "3"}}, {4, 4});
    EXPECT_EQ(problem_of(plans), "");
    std::vector<Step> const& steps = plans[1].steps;
    ASSERT_EQ(steps.size(), 6U);
    for (StepId ping = 0; ping < 6; ping += 2) {
        EXPECT_EQ(std::get<Send>(steps[ping].operation).channel, static_cast<int>(ping / 2));
        EXPECT_TRUE(steps[ping].after.empty());
        EXPECT_EQ(steps[ping + 1].after, std::vector<StepId>{ping});
    }
}

// osu_bw.c and osu_mbw_mr.c: a window of 64 to the rank half of them further on, then its answer of 4 bytes.
TEST(CollectivePlan, AWindowIsAnsweredWhenItIsComplete) {
    for (char const* operation : {"bandwidth", "message_rate"}) {
        auto const plans = plans_of({{"operation", operation}}, {5, 5});
        auto const& send = std::get<Send>(plans[1].steps.at(0).operation);
        EXPECT_EQ(send.to.peer, 3);
        EXPECT_EQ(send.to.bytes, 1024U);
        EXPECT_EQ(send.window, (MessageWindow{64, 0}));
        EXPECT_EQ(plans[1].steps.at(1).after, std::vector<StepId>{0});
        EXPECT_EQ(std::get<Recv>(plans[3].steps.at(0).operation).window, send.window);
        EXPECT_EQ(std::get<Send>(plans[3].steps.at(1).operation).to.bytes, 1U);
        EXPECT_EQ(plans[3].steps[1].after, std::vector<StepId>{0});
        EXPECT_TRUE(plans[4].steps.empty()) << "the last of an odd number of ranks has no pair";
    }
}

// osu_bw_fan_in.c, osu_bw_fan_out.c: windows with all peers are in flight together, then each is answered.
TEST(CollectivePlan, AFanHasTheWindowsOfAllOtherNodesAtTheFirst) {
    auto const in = plans_of({{"operation", "bandwidth"}, {"route", "fan_in"}}, {6, 2});
    EXPECT_EQ(problem_of(in), "");
    std::vector<Step> const& hub = in[1].steps;
    ASSERT_EQ(hub.size(), 4U);
    EXPECT_EQ(std::get<Recv>(hub[0].operation).from.peer, 3);
    EXPECT_EQ(std::get<Recv>(hub[1].operation).from.peer, 5);
    EXPECT_TRUE(hub[1].after.empty());
    EXPECT_EQ(std::get<Recv>(hub[0].operation).batch, std::get<Recv>(hub[1].operation).batch);
    EXPECT_EQ(std::get<Send>(hub[3].operation).to.bytes, 1U);
    EXPECT_EQ(hub[3].after, (std::vector<StepId>{0, 1}));
    EXPECT_EQ(std::get<Send>(in[4].steps.at(0).operation).to.peer, 0);

    auto const out = plans_of({{"operation", "bandwidth"}, {"route", "fan_out"}}, {4, 4});
    EXPECT_EQ(problem_of(out), "");
    EXPECT_EQ(out[0].steps.size(), 6U) << "on one node every rank counts as a node";
    EXPECT_EQ(std::get<Recv>(out[3].steps.at(0).operation).from.peer, 0);

    auto const fan = make_collective({{"operation", "bandwidth"}, {"route", "fan_in"}, {"window", "10"}}, {6, 2});
    EXPECT_EQ(fan->statistics({}).at(0).value, 4 * 10);
    EXPECT_EQ(fan->osu_program().ranks_with_times(6), 2) << "the mean over the ranks of the first node";
}

// hypercube.cu of nccl-tests: parts of 1, 2, 4 ... ranks, one round after the other.
TEST(CollectivePlan, AHypercubeDoublesInEachRound) {
    auto const plans = plans_of({{"operation", "sendrecv"}, {"route", "hypercube"}}, {8, 8});
    EXPECT_EQ(problem_of(plans), "");
    std::vector<Step> const& steps = plans[5].steps;
    ASSERT_EQ(steps.size(), 6U);
    for (std::size_t round = 0; round < 3; ++round) {
        auto const& send = std::get<Send>(steps[2 * round].operation);
        EXPECT_EQ(send.to.peer, 5 ^ (1 << round));
        EXPECT_EQ(send.to.bytes, Bytes{1024} << round);
        EXPECT_EQ(std::get<Recv>(steps[2 * round + 1].operation).from.peer, send.to.peer);
    }
    EXPECT_EQ(steps[2].after, (std::vector<StepId>{0, 1}));
    EXPECT_EQ(steps[5].after, (std::vector<StepId>{2, 3}));
}

// osu_bibw.c: receives are posted before sends, nothing waits for anything else, and there is no answer.
TEST(CollectivePlan, WindowsGoBothWaysAtOnce) {
    auto const plans = plans_of({{"operation", "bibandwidth"}, {"window", "7"}}, {4, 4});
    for (Rank me = 0; me < 4; ++me) {
        std::vector<Step> const& steps = plans[static_cast<std::size_t>(me)].steps;
        ASSERT_EQ(steps.size(), 2U);
        EXPECT_EQ(std::get<Recv>(steps[0].operation).from.peer, (me + 2) % 4);
        EXPECT_EQ(std::get<Send>(steps[1].operation).to.peer, (me + 2) % 4);
        EXPECT_EQ(std::get<Send>(steps[1].operation).window.messages, 7U);
        EXPECT_TRUE(steps[1].after.empty());
    }
}

TEST(CollectivePlan, MessagesOfAWindowHaveOnePlaceOrPagesOfTheirOwn) {
    auto const window = [](char const* buffers, char const* size) {
        auto const plans =
            plans_of({{"operation", "bandwidth"}, {"window-buffers", buffers}, {"message-size", size}}, {2, 2});
        return operation_of<Send>(plans[0]).window;
    };
    EXPECT_EQ(window("single", "8").stride, 0U);
    EXPECT_EQ(window("multiple", "8").stride, 4096U);
    EXPECT_EQ(window("multiple", "4096").stride, 4096U);
    EXPECT_EQ(window("multiple", "8192").stride, 8192U);
}

TEST(CollectivePlan, AsManyPairsAsAreAskedForSend) {
    auto const plans = plans_of({{"operation", "message_rate"}, {"pairs", "2"}}, {8, 8});
    for (Rank me = 0; me < 8; ++me) {
        EXPECT_EQ(plans[static_cast<std::size_t>(me)].steps.empty(), me % 4 >= 2) << me;
    }
    auto const messages = [](Parameters const& parameters) {
        return make_collective(parameters, {8, 8})->statistics({}).at(0).value;
    };
    EXPECT_EQ(messages({{"operation", "message_rate"}, {"pairs", "2"}}), 2 * 64);
    EXPECT_EQ(messages({{"operation", "bandwidth"}, {"window", "10"}}), 4 * 10);
    EXPECT_EQ(messages({{"operation", "bibandwidth"}}), 2 * 4 * 64);
}

// osu_iallreduce.c: the call, then the computation, during which MPI is not called, then the wait.
TEST(CollectivePlan, AComputationBesideTheOperationWaitsForNothing) {
    auto const steps = [](Parameters parameters) {
        parameters["compute"] = "gemm";
        return plans_of(parameters, {2, 2})[0].steps;
    };
    Step const last = steps({{"compute-us", "12.5"}}).at(1);
    auto const& compute = std::get<Compute>(last.operation);
    EXPECT_EQ(compute.busy_ns, 12500);
    EXPECT_TRUE(compute.product.has_value());
    EXPECT_TRUE(compute.uninterrupted);
    EXPECT_TRUE(last.after.empty());
    EXPECT_FALSE(std::get<Compute>(steps({{"compute-progress", "on"}}).at(1).operation).uninterrupted);
    EXPECT_EQ(std::get<Compute>(steps({{"operation", "bandwidth"}}).at(2).operation).busy_ns, 0)
        << "auto, before a launch has measured the operation";
    auto const automatic = type().set_by_communication;
    EXPECT_EQ(automatic(resolve(type(), "", {{"compute", "busy"}})), "compute-us");
    EXPECT_EQ(automatic(resolve(type(), "", {{"compute", "busy"}, {"compute-us", "5"}})), "");
    EXPECT_EQ(automatic(resolve(type(), "", {})), "");
}

TEST(CollectiveOperations, SayWhatPlansHold) {
    auto const uses = [](char const* operation) {
        return make_collective({{"operation", operation}}, {4, 4})->operations();
    };
    using Uses = std::vector<OperationUse>;
    EXPECT_EQ(uses("allreduce"), (Uses{{OperationKind::all_reduce, true}}));
    EXPECT_EQ(uses("gather"), (Uses{{OperationKind::gather, true}}));
    EXPECT_EQ(uses("gatherv"), (Uses{{OperationKind::gather, false}}));
    EXPECT_EQ(uses("reduce_scatter"), (Uses{{OperationKind::reduce_scatter, false}}));
    EXPECT_EQ(uses("reduce_scatter_block"), (Uses{{OperationKind::reduce_scatter, true}}));
    EXPECT_EQ(uses("sendrecv"), (Uses{{OperationKind::send}, {OperationKind::recv}}));
    EXPECT_EQ(uses("alltoallv"), (Uses{{OperationKind::exchange, false}}));
    EXPECT_EQ(uses("alltoall"), (Uses{{OperationKind::exchange, true}}));
}

TEST(CollectiveOperations, UniformOnesHavePackedBlocks) {
    auto const plans = plans_of({{"operation", "alltoall"}, {"message-size", "20"}}, {4, 4});
    auto const& exchange = operation_of<Exchange>(plans[2]);
    EXPECT_TRUE(packed(exchange.send, 4) && packed(exchange.recv, 4));
}

}  // namespace
}  // namespace dlmb::collective
