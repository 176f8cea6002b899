// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Local work on a device: in which order it becomes complete, and what goes on meanwhile. Skipped where there is no
// device; with the test doubles in front (tests/fakes) it is memory and threads of this process.
#include "common/backends/ucx/local_work.hpp"
#include "common/measure/buffers/plain_copies.hpp"
#include "tests/unit/ucx/ucx_rank.hpp"

#include <cstdlib>

namespace dlmb::ucx {
namespace {

class UcxOnDevice : public testing::Test {
protected:
    void SetUp() override {
        std::string why_not;
        if (make_memory_space(MemoryKind::cuda, why_not) == nullptr) {
            GTEST_SKIP() << why_not;
        }
        in_process::run_ranks(1, [](Bootstrap& bootstrap) {
            UcxRank rank(bootstrap);
            if (!rank.backend().supports(MemoryKind::cuda)) {
                GTEST_SKIP() << rank.backend().why_no(MemoryKind::cuda);
            }
        });
    }
};

TEST_F(UcxOnDevice, AQueuesWorkIsCompleteInOrderAndItsEventsAreUsedAgain) {
    TrackedQueue tracked(2);
    for (std::uint64_t round = 0; round < 3; ++round) {
        std::uint64_t const first = tracked.mark();
        std::uint64_t const second = tracked.mark();
        tracked.queue().drain();
        EXPECT_FALSE(tracked.complete(second)) << "the driver is asked about the oldest only";
        EXPECT_TRUE(tracked.complete(first));
        EXPECT_TRUE(tracked.complete(second));
        EXPECT_TRUE(tracked.complete(first)) << "once complete, always complete";
    }
}

TEST_F(UcxOnDevice, MessagesArriveWhileAComputeStepRuns) {
    in_process::run_ranks(
        2, [](Bootstrap& bootstrap) { UcxRank(bootstrap, MemoryKind::cuda).answer_beside_computation(); });
}

TEST_F(UcxOnDevice, CollectivesSideBySideShareOneQueueAndGetTheirOwnResults) {
    in_process::run_ranks(
        4, [](Bootstrap& bootstrap) { UcxRank(bootstrap, MemoryKind::cuda).collectives_side_by_side(500'000); });
}

TEST_F(UcxOnDevice, InManagedMemoryTheGpuPacksAndMakesTheCopiesThatPackingIsComparedWith) {
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap, MemoryKind::managed);
        PlanBuilder builder(bootstrap.rank());
        std::vector<std::uint64_t> const rows{2, 2};
        builder.packed_exchange(builder.group(rank.world()), rows, rows, 64,
                                {{Code::int8, 32, ScaleType::fp32}, Element::bf16}, "dispatch");
        std::vector<Plan> const plans{std::move(builder).finish()};
        Buffers const buffers = rank.bind(plans.front());
        std::vector<std::string> const labels{"pack", "dispatch", "unpack"};
        auto const by = [&](std::optional<Processor> converts) {
            auto const copies = measure::time_plain_copies(bootstrap, {&buffers, 1}, plans, labels, converts, nullptr);
            return copies.at(2) ? std::optional(copies[2]->by) : std::nullopt;
        };
        EXPECT_EQ(by(rank.backend().computes_in(MemoryKind::managed)), Processor::device);
        EXPECT_EQ(by(Processor::host), Processor::host);
        EXPECT_EQ(by(std::nullopt), std::nullopt) << "nobody knows who packs";
    });
}

TEST_F(UcxOnDevice, ProductsWithoutCublasAreDeclinedOnAllRanksAlike) {
    if (std::getenv("DLMB_FAKE_CUBLAS_STATUS") == nullptr) {
        GTEST_SKIP() << "cuBLAS may be there";
    }
    in_process::run_ranks(2, [](Bootstrap& bootstrap) {
        UcxRank rank(bootstrap, MemoryKind::cuda);
        PlanBuilder builder(bootstrap.rank());
        GroupId const world = builder.group(rank.world());
        std::vector<StepId> before;
        if (bootstrap.rank() == 0) {
            before.push_back(builder.compute(1000, "compute", {}, ProductShape{64, 64, 64}));
        }
        builder.all_reduce(world, 4096, Element::fp32, Reduction::sum, "gradients", before);
        Plan const plan = std::move(builder).finish();
        auto const made = rank.backend().compile(plan, rank.bind(plan), {});
        ASSERT_FALSE(made);
        EXPECT_NE(made.error().reason.find("cuBLAS"), std::string::npos) << made.error().reason;
    });
}

}  // namespace
}  // namespace dlmb::ucx
