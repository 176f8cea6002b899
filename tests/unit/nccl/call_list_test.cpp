// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A timed iteration calls of the CUDA runtime and NCCL what a plain loop calls, and nothing else: no event that nobody
// asked for, no wait, no question. What calls cost the test double cannot tell; how many there are it can. The plain
// loop stands beside each plan, and both are run by what runs them on a GPU: the measuring sampler and BareLoop.
#include "common/measure/sampling/sampler.hpp"
#include "tests/gpu/bench/bare_calls.hpp"
#include "tests/unit/exchange_step.hpp"
#include "tests/unit/nccl/call_list.hpp"
#include "tests/unit/nccl/double_rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

namespace dlmb::nccl {
namespace {

using benchmark::BareExchange;
using benchmark::BareLoop;

Bytes equal(Rank /*from*/, Rank /*to*/) {
    return 256;
}
/// As experts that are more or less in demand.
Bytes skewed(Rank from, Rank to) {
    return Bytes{64} * static_cast<Bytes>(1 + from + 3 * to);
}

struct Traffic {
    char const* name;
    std::function<void(PlanBuilder&, RankOnDouble const&)> add;
};

Traffic const all_reduce{"all_reduce", [](PlanBuilder& builder, RankOnDouble const& rank) {
                             builder.all_reduce(builder.group(rank.world()), 1024, Element::fp32, Reduction::sum, "a");
                         }};
Traffic const reduce{"reduce", [](PlanBuilder& builder, RankOnDouble const& rank) {
                         builder.reduce(builder.group(rank.world()), 1, 1024, Element::fp32, Reduction::sum, "r");
                     }};
Traffic const reduce_scatter{"reduce_scatter", [](PlanBuilder& builder, RankOnDouble const& rank) {
                                 builder.reduce_scatter(builder.group(rank.world()), {1024}, Element::fp32,
                                                        Reduction::sum, "r");
                             }};
Traffic const all_gather{"all_gather", [](PlanBuilder& builder, RankOnDouble const& rank) {
                             builder.all_gather(builder.group(rank.world()), {1024}, Element::byte, "g");
                         }};
Traffic const broadcast{"broadcast", [](PlanBuilder& builder, RankOnDouble const& rank) {
                            builder.broadcast(builder.group(rank.world()), 0, 1024, Element::byte, "b");
                        }};
Traffic const all_to_all{"all_to_all", [](PlanBuilder& builder, RankOnDouble const& rank) {
                             add_exchange(builder, rank.world(), rank.me(), equal, "e");
                         }};
Traffic const experts{"dispatch_and_combine", [](PlanBuilder& builder, RankOnDouble const& rank) {
                          StepId const dispatch = add_exchange(builder, rank.world(), rank.me(), skewed, "dispatch");
                          add_exchange(builder, rank.world(), rank.me(),
                                       [](Rank from, Rank to) { return skewed(to, from); }, "combine", {dispatch});
                      }};
Traffic const ring{"sendrecv", [](PlanBuilder& builder, RankOnDouble const& rank) {
                       Rank const ranks = static_cast<Rank>(rank.world().members.size());
                       GroupId const world = builder.group(rank.world());
                       builder.send(world, (rank.me() + 1) % ranks, 256, 0, 0, "s");
                       builder.recv(world, (rank.me() + ranks - 1) % ranks, 256, 0, 0, "s");
                   }};

struct Case {
    char const* method;
    Traffic const& traffic;
    BareExchange exchange = BareExchange::grouped;
};

void PrintTo(Case const& value, std::ostream* out) {
    *out << value.method << " " << value.traffic.name;
}

enum class Timing { isolated, queued };
constexpr std::uint64_t queued_iterations = 4;

/// Of one sample, as the measuring core takes it.
CallList timed_calls(RankOnDouble& rank, Plan const& plan, Buffers const& buffers, char const* method, Timing timing) {
    std::vector<std::unique_ptr<CompiledPlan>> positions;
    positions.push_back(rank.backend().compile(plan, buffers, parse_method(method)).value());
    std::vector<Plan> const plans{plan};
    measure::CommonClock const clock(rank.bootstrap());
    measure::Watchdog watchdog([](measure::HangReport const&) {});
    measure::PhaseMap const phases(rank.bootstrap(), plans);
    measure::Sampler sampler(rank.bootstrap(), clock, watchdog, positions, plans, phases);
    if (timing == Timing::queued) {
        sampler.set_iterations_per_sample(queued_iterations);
        sampler.set_queued();
    }
    (void)sampler.run(0, 2);  // what only a first iteration does is over
    return calls_of([&] { (void)sampler.run(0, 1); });
}

CallList plain_calls(RankOnDouble& rank, BareLoop::Call const& call, Timing timing) {
    BareLoop loop(rank.bootstrap());
    loop.run(call, 2, BareLoop::Wait::after_each);
    bool const queued = timing == Timing::queued;
    return calls_of([&] {
        loop.run(call, queued ? queued_iterations : 1, queued ? BareLoop::Wait::at_end : BareLoop::Wait::after_each);
    });
}

class NcclCallList : public testing::TestWithParam<Case> {
protected:
    Plan make_plan() {
        PlanBuilder builder(rank.me());
        GetParam().traffic.add(builder, rank);
        return std::move(builder).finish();
    }
    RankOnDouble rank;
};

TEST_P(NcclCallList, OfATimedIterationIsThatOfAPlainLoop) {
    Plan const plan = make_plan();
    Buffers const buffers = rank.new_buffers(plan);
    auto const call = benchmark::bare_calls(plan, buffers, GetParam().exchange);
    EXPECT_EQ(timed_calls(rank, plan, buffers, GetParam().method, Timing::isolated),
              plain_calls(rank, call, Timing::isolated));
    EXPECT_EQ(timed_calls(rank, plan, buffers, GetParam().method, Timing::queued),
              plain_calls(rank, call, Timing::queued));
}

INSTANTIATE_TEST_SUITE_P(Methods, NcclCallList,
                         testing::Values(Case{"grouped", all_to_all}, Case{"grouped", experts}, Case{"grouped", ring},
                                         Case{"native", all_to_all, BareExchange::native}, Case{"native", all_reduce},
                                         Case{"native", reduce}, Case{"native", reduce_scatter},
                                         Case{"native", all_gather}, Case{"native", broadcast},
                                         Case{"registered", all_reduce}, Case{"registered", experts},
                                         Case{"registered:exchange=native", all_to_all, BareExchange::native}));

class NcclGraphCallList : public NcclCallList {};

/// The plain loop: its calls captured once, one launch of the graph for each iteration.
TEST_P(NcclGraphCallList, IsThatOfAPlainLoopThatWasCaptured) {
    Plan const plan = make_plan();
    Buffers const buffers = rank.new_buffers(plan);
    auto const call = benchmark::bare_calls(plan, buffers, GetParam().exchange);
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t graph = nullptr;
    {
        BareLoop const loop(rank.bootstrap());
        benchmark::require(cudaStreamBeginCapture(loop.stream(), cudaStreamCaptureModeThreadLocal), "begin");
        call(loop.communicator(), loop.stream());
        benchmark::require(cudaStreamEndCapture(loop.stream(), &captured), "end");
        benchmark::require(cudaGraphInstantiateWithFlags(&graph, captured, 0), "instantiate");
    }
    for (Timing const timing : {Timing::isolated, Timing::queued}) {
        CallList expected(timing == Timing::queued ? queued_iterations : 1, "");
        std::size_t nodes = 0;
        benchmark::require(cudaGraphGetNodes(captured, nullptr, &nodes), "nodes");
        std::fill(expected.begin(), expected.end(), "cudaGraphLaunch " + std::to_string(nodes) + " nodes");
        expected.insert(expected.end(), {"cudaEventRecord untimed", "wait for an event"});
        EXPECT_EQ(timed_calls(rank, plan, buffers, GetParam().method, timing), expected);
    }
    benchmark::require(cudaGraphExecDestroy(graph), "destroy");
    benchmark::require(cudaGraphDestroy(captured), "destroy");
}

INSTANTIATE_TEST_SUITE_P(Methods, NcclGraphCallList,
                         testing::Values(Case{"graph", all_reduce}, Case{"graph", experts},
                                         Case{"graph:exchange=native", all_to_all, BareExchange::native}));

// Marks are asked for: an event with timing before everything, behind each entry, and behind everything.
TEST(NcclCalls, AMarkedIterationHasATimedEventPerEntryAndTwoAroundIt) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    experts.add(builder, rank);
    auto const compiled = rank.compile(std::move(builder).finish(), "grouped");
    auto const timed_events = [&](bool marks) {
        compiled->keep_marks(marks);
        CallList const calls = calls_of([&] {
            compiled->launch();
            compiled->finish();
        });
        return std::count(calls.begin(), calls.end(), "cudaEventRecord timed");
    };
    EXPECT_EQ(timed_events(true), 4);
    EXPECT_EQ(timed_events(false), 0);
}

// What a study of non-blocking communicators measures: groups go on behind the caller's back, which asks until they are
// queued.
TEST(NcclCalls, OnANonBlockingCommunicatorAGroupIsAskedForUntilItIsQueued) {
    for (char const* const comm : {"blocking", "nonblocking"}) {
        RankOnDouble rank(0, comm);
        PlanBuilder builder(rank.me());
        all_to_all.add(builder, rank);
        auto const compiled = rank.compile(std::move(builder).finish(), "grouped");
        compiled->launch();
        compiled->finish();
        CallList const calls = calls_of([&] { compiled->launch(); });
        compiled->finish();
        auto const questions = std::count(calls.begin(), calls.end(), "ncclCommGetAsyncError");
        EXPECT_EQ(questions > 0, std::string_view(comm) == "nonblocking") << comm;
        EXPECT_EQ(rank.backend().provenance().at("nccl_comm"), comm);
    }
}

}  // namespace
}  // namespace dlmb::nccl
