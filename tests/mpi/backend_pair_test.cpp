// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Two libraries at the same time on one thread per rank (MCR-DL, arXiv 2303.08374). Ranks enter late and
// in other rounds, and every byte arrives.
#include "common/backend_kit/backend_pair.hpp"
#include "common/base/clock.hpp"
#include "tests/mpi/ucx_rig.hpp"

#include <algorithm>

namespace dlmb::ucx {
namespace {

constexpr std::uint32_t iterations = 30;

/// Two exchanges that follow each other, and an allreduce that waits for none, or where `tied` for the first one.
Plan exchanges_beside_a_sum(Bootstrap const& bootstrap, bool tied = false) {
    PlanBuilder builder(bootstrap.rank());
    GroupId const all = builder.group(world_of(bootstrap));
    std::vector<Bytes> const blocks(static_cast<std::size_t>(bootstrap.size()), Bytes{300'000});
    StepId const there = builder.exchange(all, blocks, blocks, "dispatch");
    builder.exchange(all, blocks, blocks, "combine", {there});
    builder.all_reduce(all, 1U << 20U, Element::fp32, Reduction::sum, "beside",
                       tied ? std::vector<StepId>{there} : std::vector<StepId>{});
    return std::move(builder).finish();
}

class BackendPairs : public testing::TestWithParam<std::pair<char const*, char const*>> {};

TEST_P(BackendPairs, DeliverEveryByteWhoeverComesFirstAndSayWhenEachStepWasCompleteInOrder) {
    auto const bootstrap = make_mpi_bootstrap();
    BackendPool pool(BackendContext{*bootstrap});
    auto const first = pool.backend(GetParam().first);
    auto const second = pool.backend(GetParam().second);
    if (!first || !second) {
        GTEST_SKIP() << (first ? second : first).error().reason;
    }
    auto const pair = make_backend_pair(*bootstrap, first.value(), second.value(), {}, "beside", Idle(true));
    EXPECT_EQ(pair->name(), std::string(GetParam().first) + "+" + GetParam().second);
    BoundPlan bound(*bootstrap, *pair, exchanges_beside_a_sum(*bootstrap));
    for (std::uint32_t i = 0; i < iterations; ++i) {
        bound.prepare(i);
        bootstrap->barrier();
        Nanoseconds const late_ns = Nanoseconds{100'000} * ((bootstrap->rank() + static_cast<int>(i)) % 3);
        for (Nanoseconds const start = now_ns(); now_ns() - start < late_ns;) {
        }
        bound.run();
        bound.verify(i);
        if (i % 3 == 0) {
            pair->quiesce();
        }
    }
    std::span<PhaseMark const> const marks = bound.marks();
    ASSERT_EQ(marks.size(), 3U);
    EXPECT_EQ(marks.back().time_ns, PhaseMark::at_finish);
    EXPECT_LE(marks[0].time_ns, marks[1].time_ns);
    std::vector<StepId> steps{marks[0].step, marks[1].step, marks[2].step};
    EXPECT_LT(std::find(steps.begin(), steps.end(), 0U), std::find(steps.begin(), steps.end(), 1U));
    std::sort(steps.begin(), steps.end());
    EXPECT_EQ(steps, (std::vector<StepId>{0, 1, 2}));
    pair->quiesce();
}

INSTANTIATE_TEST_SUITE_P(All, BackendPairs,
                         testing::Values(std::pair{"mpi", "ucx"}, std::pair{"ucx", "mpi"}, std::pair{"mpi", "ucc"},
                                         std::pair{"ucx", "ucc"}),
                         [](auto const& test) { return std::string(test.param.first) + "_" + test.param.second; });

TEST(BackendPair, DeclinesWhatCannotRunAtTheSameTime) {
    auto const bootstrap = make_mpi_bootstrap();
    BackendPool pool(BackendContext{*bootstrap});
    auto const mpi = pool.backend("mpi").value();
    auto const ucx = pool.backend("ucx").value();
    auto const pair = make_backend_pair(*bootstrap, mpi, ucx, {}, "beside", Idle(true));
    auto const refusal = [&](bool tied, std::string_view method) {
        Plan const plan = exchanges_beside_a_sum(*bootstrap, tied);
        HostSpace space;
        PlanMemory const memory(space, plan);
        auto const made = pair->compile(plan, memory.buffers, parse_method(method));
        return made ? std::string() : made.error().reason;
    };
    EXPECT_EQ(refusal(true, "default"), "mpi+ucx: step \"beside\" waits for \"dispatch\": they cannot run on two "
                                        "backends at the same time");
    EXPECT_EQ(refusal(bootstrap->rank() == 1, "default"), refusal(true, "default")) << "all ranks follow the one";
    EXPECT_NE(refusal(false, "put:sync=fence").find("mpi: put: calls of it wait for other ranks"), std::string::npos);
    pair->quiesce();
}

}  // namespace
}  // namespace dlmb::ucx
