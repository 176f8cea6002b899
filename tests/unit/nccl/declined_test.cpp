// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What a launch cannot do is declined with the reason, on all ranks alike, before anything waits for a peer.
#include "tests/unit/nccl/double_rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace dlmb::nccl {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(NcclDeclines, MemoryOfTheHost) {
    RankOnDouble rank;
    Plan const plan = all_reduce_plan(rank);
    auto const made = rank.backend().compile(plan, {MemoryKind::host, {nullptr, nullptr}}, parse_method("default"));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason, "nccl takes cuda and nccl memory, not host memory");
}

TEST(NcclDeclines, RaggedBlocksByTheLibrarysAllToAll) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    std::vector<Bytes> const mine = rank.me() == 0 ? std::vector<Bytes>{8, 16} : std::vector<Bytes>{16, 8};
    builder.exchange(builder.group(rank.world()), mine, mine, "dispatch");
    EXPECT_THAT(rank.refusal(std::move(builder).finish(), "native"), HasSubstr("needs equal packed blocks"));
}

TEST(NcclDeclines, AlgorithmsWithoutTheTunerPlugin) {
    RankOnDouble rank;
    OperationUse const use{OperationKind::all_reduce, false};
    EXPECT_TRUE(rank.backend().variants(MemoryKind::cuda, {&use, 1}).empty());
    EXPECT_THAT(rank.backend().provenance().at("nccl_algorithms"), HasSubstr("NCCL_TUNER_PLUGIN is not set"));
    EXPECT_THAT(rank.refusal(all_reduce_plan(rank), "algorithm:allreduce=ring:protocol=simple"),
                HasSubstr("NCCL_TUNER_PLUGIN is not set"));
}

TEST(NcclDeclines, AlgorithmsWithAnotherTuner) {
    ScopedVariable const plugin("NCCL_TUNER_PLUGIN", "libc.so.6");
    RankOnDouble rank;
    EXPECT_THAT(rank.refusal(all_reduce_plan(rank), "algorithm:allreduce=ring:protocol=simple"),
                HasSubstr("NCCL_TUNER_PLUGIN=libc.so.6 is another tuner"));
}

TEST(NcclDeclines, AlgorithmsWithATunerThatCannotBeLoaded) {
    ScopedVariable const plugin("NCCL_TUNER_PLUGIN", "libnothing.so");
    RankOnDouble rank;
    EXPECT_THAT(rank.backend().provenance().at("nccl_algorithms"), HasSubstr("NCCL_TUNER_PLUGIN=libnothing.so: "));
}

TEST(NcclDeclines, ProductsWithoutCublas) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    builder.compute(1000, "compute", {}, ProductShape{64, 64, 64});
    EXPECT_THAT(rank.refusal(std::move(builder).finish(), "default"), HasSubstr("cuBLAS"));
}

TEST(NcclDeclines, Fp8ReductionsByALibraryThatIsOlderThanTheBuild) {
    ScopedVariable const older("DLMB_FAKE_NCCL_VERSION", "22304");
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    builder.all_reduce(builder.group(rank.world()), 1024, Element::fp8, Reduction::sum, "gradients");
    EXPECT_EQ(rank.refusal(std::move(builder).finish(), "default"),
              "nccl: \"gradients\": fp8 reductions came with NCCL 2.24");
}

// The receiver takes channel 0 before the allreduce and channel 1 behind it, the sender has them the other way round.
TEST(NcclDeclines, MessagesWhoseOrderNcclCannotKeep) {
    RankOnDouble rank;
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    auto const message = [&](int channel, std::vector<StepId> after) {
        return rank.me() == 0 ? builder.send(world, 1, 64, channel, 0, "activations", std::move(after))
                              : builder.recv(world, 0, 64, channel, 0, "activations", std::move(after));
    };
    StepId const first = message(rank.me() == 0 ? 1 : 0, {});
    StepId const reduced = builder.all_reduce(world, 64, Element::fp32, Reduction::sum, "gradients", {first});
    message(rank.me() == 0 ? 0 : 1, {reduced});
    EXPECT_THAT(rank.refusal(std::move(builder).finish(), "grouped"),
                HasSubstr("rank 0 sends on channel 1 before what is received first, on channel 0"));
}

class SharedGpu : public testing::Test {
protected:
    SharedGpu() { use_device(0); }
    void TearDown() override { unsetenv("NCCL_HOSTID"); }
    [[nodiscard]] MadeBackend backend(bool may_share) {
        BackendContext context{*bootstrap_};
        context.options["nccl"]["shared_gpu"] = may_share ? "yes" : "no";
        return make_backend("nccl", context);
    }
    std::unique_ptr<Bootstrap> bootstrap_ = make_mpi_bootstrap();
};

TEST_F(SharedGpu, IsDeclinedUnlessAskedFor) {
    auto const made = backend(false);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().reason, HasSubstr("ranks 0 and 1 use one GPU"));
}

TEST_F(SharedGpu, IsRecordedWhereItIsAskedFor) {
    auto const made = backend(true);
    ASSERT_TRUE(made) << made.error().reason;
    Provenance const facts = made.value()->provenance();
    EXPECT_EQ(facts.at("shared_gpu"), "yes");
    EXPECT_EQ(facts.at("host_driven"), "no");
}

// NCCL itself tells ranks of one host on one GPU apart by their host id alone.
TEST_F(SharedGpu, AnInitialisationThatNcclRefusesIsAnErrorWithItsWords) {
    auto const made = backend(true);
    ASSERT_TRUE(made) << made.error().reason;
    setenv("NCCL_HOSTID", "one for both", 1);
    Plan const plan = Plan{bootstrap_->rank(), {}, {}, {}};
    EXPECT_THAT(
        [&] {
            (void)made.value()->compile(plan, {MemoryKind::cuda, {}}, parse_method("default"));
        },
        ThrowsMessage<Error>(HasSubstr("ncclCommInitRankConfig: invalid usage")));
}

}  // namespace
}  // namespace dlmb::nccl
