// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that never comes: the others give up in time, say at which step, and use NCCL no more.
#include "tests/unit/nccl/double_rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Nanoseconds short_timeout_ns = 300'000'000;

class NcclFault : public testing::TestWithParam<char const*> {};

TEST_P(NcclFault, ARankThatNeverComesIsGivenUp) {
    RankOnDouble rank(short_timeout_ns);
    Plan const plan = all_reduce_plan(rank);
    auto const compiled = rank.compile(plan, GetParam());
    compiled->launch();
    compiled->finish();
    EXPECT_EQ(compiled->steps_done(), 1U);

    rank.bootstrap().barrier();
    if (rank.me() == 0) {
        compiled->launch();
        EXPECT_THAT([&] { compiled->finish(); }, ThrowsMessage<Error>(AllOf(HasSubstr("step 0 \"gradients\""),
                                                                            HasSubstr("communicators were aborted"))));
        EXPECT_EQ(compiled->steps_done(), 0U);
        EXPECT_THAT([&] { (void)rank.try_compile(plan, GetParam()); },
                    ThrowsMessage<Error>(HasSubstr("cannot be used again")));
    }
    rank.bootstrap().barrier();
}

TEST_P(NcclFault, TheStepThatIsNotCompleteIsNamedAndThoseBeforeItAreCounted) {
    RankOnDouble rank(short_timeout_ns);
    PlanBuilder builder(rank.me());
    StepId const computed = builder.compute(100'000, "compute");
    builder.all_reduce(builder.group(rank.world()), 1024, Element::fp32, Reduction::sum, "gradients", {computed});
    auto const compiled = rank.compile(std::move(builder).finish(), GetParam());
    compiled->launch();
    compiled->finish();

    rank.bootstrap().barrier();
    if (rank.me() == 0) {
        compiled->launch();
        EXPECT_THAT([&] { compiled->finish(); }, ThrowsMessage<TimeoutError>(HasSubstr("step 1 \"gradients\"")));
        EXPECT_EQ(compiled->steps_done(), 1U);
    }
    rank.bootstrap().barrier();
}

// As NCCL is while it connects to a rank that is late: in a graph, in the middle of the capture.
TEST_P(NcclFault, AnEnqueueThatDoesNotEndIsGivenUp) {
    RankOnDouble rank(short_timeout_ns, "nonblocking");
    Plan const plan = all_reduce_plan(rank);
    auto const connected = rank.compile(plan, "native");
    ScopedVariable const forever("DLMB_FAKE_NCCL_QUESTIONS", "2147483647");
    EXPECT_THAT([&] { rank.compile(plan, GetParam())->launch(); },
                ThrowsMessage<TimeoutError>(HasSubstr("step 0 \"gradients\" is not complete after 0.3 s")));
    EXPECT_THAT([&] { (void)rank.try_compile(plan, GetParam()); },
                ThrowsMessage<Error>(HasSubstr("cannot be used again")))
        << "memory can be allocated: no capture was left open";
}

INSTANTIATE_TEST_SUITE_P(Methods, NcclFault, testing::Values("native", "graph", "registered"));

Plan message_plan(RankOnDouble const& rank, Rank from, Rank to) {
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    if (rank.me() == from) {
        builder.send(world, to, 64, 0, 0, "activations");
    } else if (rank.me() == to) {
        builder.recv(world, from, 64, 0, 0, "activations");
    }
    return std::move(builder).finish();
}

// Each of two ranks waits for the other's message; only one of them has a time limit.
TEST(NcclFault, APeerThatGaveUpIsAnAsynchronousErrorHere) {
    auto const who = make_mpi_bootstrap();
    bool const gives_up = who->rank() == 1;
    RankOnDouble rank(gives_up ? short_timeout_ns : 0);
    auto const to_0 = rank.compile(message_plan(rank, 1, 0), "grouped");
    auto const to_1 = rank.compile(message_plan(rank, 0, 1), "grouped");
    CompiledPlan& waits = gives_up ? *to_1 : *to_0;
    rank.bootstrap().barrier();
    waits.launch();
    EXPECT_THAT([&] { waits.finish(); },
                ThrowsMessage<Error>(HasSubstr(gives_up ? "communicators were aborted"
                                                        : "asynchronous error of a communicator: remote process")));
    EXPECT_THAT([&] { (void)rank.try_compile(message_plan(rank, 1, 0), "grouped"); },
                ThrowsMessage<Error>(HasSubstr("cannot be used again")));
    rank.bootstrap().barrier();
}

}  // namespace
}  // namespace dlmb::nccl
