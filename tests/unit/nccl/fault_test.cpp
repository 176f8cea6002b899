// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that never comes: the others give up in time, say at which step, and use NCCL no more. On the test double of
// the CUDA runtime and NCCL (tests/fakes/gpu), which is preloaded.
#include "common/backend/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/memory/devices.hpp"
#include "common/plan/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Plan plan_of(Bootstrap const& bootstrap) {
    PlanBuilder builder(bootstrap.rank());
    Group world;
    for (Rank rank = 0; rank < bootstrap.size(); ++rank) {
        world.members.push_back(rank);
    }
    builder.all_reduce(builder.group(world), 1024, Element::fp32, Reduction::sum, "gradients");
    return std::move(builder).finish();
}

class NcclFault : public testing::TestWithParam<char const*> {};

TEST_P(NcclFault, ARankThatNeverComesIsGivenUp) {
    auto const bootstrap = make_mpi_bootstrap();
    use_device(bootstrap->local_rank());
    BackendContext context{*bootstrap};
    context.timeout_ns = 300'000'000;
    auto const backend = make_backend("nccl", context);
    ASSERT_TRUE(backend) << backend.error().reason;
    Plan const plan = plan_of(*bootstrap);
    std::string why_not;
    auto const space = make_memory(MemoryKind::cuda, why_not);
    std::vector<Allocation> memory;
    Buffers buffers{MemoryKind::cuda, {}};
    for (Buffer const& buffer : plan.buffers) {
        memory.push_back(space->allocate(buffer.bytes));
        buffers.base.push_back(memory.back().data());
    }
    auto const compiled = backend.value()->compile(plan, buffers, parse_method(GetParam()));
    ASSERT_TRUE(compiled);
    compiled.value()->launch();
    compiled.value()->finish();
    EXPECT_EQ(compiled.value()->steps_done(), 1U);

    bootstrap->barrier();
    if (bootstrap->rank() == 0) {
        compiled.value()->launch();
        EXPECT_THAT(
            [&] { compiled.value()->finish(); },
            ThrowsMessage<Error>(AllOf(HasSubstr("step 0 \"gradients\""), HasSubstr("communicators were aborted"))));
        EXPECT_EQ(compiled.value()->steps_done(), 0U);
        EXPECT_THAT([&] { (void)backend.value()->compile(plan, buffers, parse_method(GetParam())); },
                    ThrowsMessage<Error>(HasSubstr("cannot be used again")));
    }
    bootstrap->barrier();
}

INSTANTIATE_TEST_SUITE_P(Methods, NcclFault, testing::Values("native", "graph", "registered"));

}  // namespace
}  // namespace dlmb::nccl
