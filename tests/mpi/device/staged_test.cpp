// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Device memory over an MPI library that takes host memory only. Runs where the test double of CUDA is preloaded, whose
// device memory the program cannot touch.
#include "tests/conformance/corpus.hpp"
#include "tests/mpi/device/watched_mpi.hpp"
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace dlmb::mpi {
namespace {

using Problems = std::vector<std::string>;

/// Every plan of the corpus for as many ranks, but those with puts and signals, which are in host memory only.
void expect_corpus_clean(Rig& rig, std::string_view method) {
    for (conformance::CorpusEntry const& entry : conformance::corpus(rig.ranks())) {
        if (std::none_of(entry.plans.begin(), entry.plans.end(), [](Plan const& each) { return has_signals(each); })) {
            Plan const& plan = entry.plans[static_cast<std::size_t>(rig.me())];
            EXPECT_EQ(rig.run(plan, method), Problems{}) << entry.name << ", " << method;
        }
    }
}

class MpiStaged : public testing::Test {
protected:
    Rig rig_{{}, "no", MemoryKind::cuda};
};

Bytes ragged(Rank from, Rank to) {
    return static_cast<Bytes>((from * 7 + to * 13) % 5) * 4001 + static_cast<Bytes>(from == to ? 17 : 0);
}

TEST_F(MpiStaged, IsTheDefaultAndSaysWhy) {
    ASSERT_EQ(rig_.backend().methods_on(MemoryKind::cuda).size(), 1U);
    EXPECT_EQ(rig_.backend().methods_on(MemoryKind::cuda).front().name, "staged");
    EXPECT_EQ(rig_.backend().methods_on(MemoryKind::pinned).front().name, "alltoall");
    Provenance const facts = rig_.backend().provenance();
    EXPECT_EQ(facts.at("mpi_gpu_path"), "staged");
    EXPECT_EQ(facts.at("mpi_gpu_reason"), "--mpi-device no");
}

TEST_F(MpiStaged, RunsTheCorpusAndGivesMpiNoDevicePointer) {
    watched::reset();
    expect_corpus_clean(rig_, "default");
    EXPECT_EQ(watched::pointers().device, 0U);
    EXPECT_GT(watched::pointers().host, 0U);
}

TEST_F(MpiStaged, RunsTheCorpusInSmallChunks) {
    expect_corpus_clean(rig_, "staged:chunk=32K");
    EXPECT_EQ(watched::pointers().device, 0U);
}

TEST_F(MpiStaged, RunsByEveryMethod) {
    PlanBuilder builder(rig_.me());
    GroupId const all = builder.group(rig_.world());
    Bytes const bytes = 20'000 * static_cast<Bytes>(rig_.ranks());
    StepId const counts = builder.all_gather(all, bytes, Element::int64, "counts");
    StepId const sum = builder.all_reduce(all, bytes, Element::fp32, Reduction::sum, "sum", {counts});
    add_exchange(builder, rig_.world(), rig_.me(), ragged, "dispatch", {sum});
    Plan const plan = std::move(builder).finish();
    for (std::string_view const method :
         {"alltoallv", "alltoallw", "isend_irecv", "pairwise", "neighbor", "blocking", "nonblocking", "persistent"}) {
        std::string const choice = "staged:chunk=4096:by=" + std::string(method);
        EXPECT_EQ(rig_.run(plan, choice), Problems{}) << choice;
    }
    EXPECT_EQ(watched::pointers().device, 0U);
}

TEST_F(MpiStaged, DeclinesProductsWithoutCublasOnAllRanksAlike) {
    if (std::getenv("DLMB_FAKE_CUBLAS_STATUS") == nullptr) {
        GTEST_SKIP() << "cuBLAS may be there";
    }
    PlanBuilder builder(rig_.me());
    GroupId const all = builder.group(rig_.world());
    std::vector<StepId> before;
    if (rig_.me() == 0) {
        before.push_back(builder.compute(1000, "compute", {}, ProductShape{64, 64, 64}));
    }
    builder.all_reduce(all, 4096, Element::fp32, Reduction::sum, "gradients", before);
    Plan const plan = std::move(builder).finish();
    auto const made = rig_.backend().compile(plan, rig_.bind(plan), {});
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().reason.find("cuBLAS"), std::string::npos) << made.error().reason;
}

TEST_F(MpiStaged, PackedBlocksGoInOneAlltoall) {
    PlanBuilder builder(rig_.me());
    add_exchange(
        builder, rig_.world(), rig_.me(), [](Rank, Rank) { return 157 * guard_bytes; }, "equal");
    EXPECT_EQ(rig_.run(std::move(builder).finish(), "staged:chunk=4096:by=alltoall"), Problems{});
}

// Rank 0 alone has a block of several chunks: the others have to make as many calls.
TEST_F(MpiStaged, AllRanksMakeTheRoundsOfTheOneThatNeedsMost) {
    PlanBuilder builder(rig_.me());
    add_exchange(
        builder, rig_.world(), rig_.me(),
        [](Rank from, Rank to) { return from == 0 && to == 1 ? Bytes{30'000} : Bytes{100}; }, "dispatch");
    EXPECT_EQ(rig_.run(std::move(builder).finish(), "staged:chunk=4096"), Problems{});
}

// A rank without a block in a round is not in place, though its buffer is one.
TEST_F(MpiStaged, RoundsOfAnExchangeInOneBufferAreNotInPlaceOnAnyRank) {
    PlanBuilder builder(rig_.me());
    add_exchange(
        builder, rig_.world(), rig_.me(),
        [](Rank from, Rank to) { return from + to == 1 ? Bytes{20'000} : Bytes{512}; }, "dispatch");
    EXPECT_EQ(rig_.run(in_one_buffer(std::move(builder).finish()), "staged:chunk=4096"), Problems{});
}

// Both are on their way together, and the copies of the small one are there first on some ranks.
TEST_F(MpiStaged, StepsOfOneGroupKeepTheOrderOfTheirCalls) {
    PlanBuilder builder(rig_.me());
    GroupId const all = builder.group(rig_.world());
    add_exchange(
        builder, rig_.world(), rig_.me(), [](Rank from, Rank) { return from == 0 ? Bytes{600'000} : Bytes{64}; },
        "large");
    add_exchange(builder, rig_.world(), rig_.me(), ragged, "small");
    builder.all_reduce(all, 4096, Element::int32, Reduction::sum, "sum");
    builder.compute(100'000, "think");
    EXPECT_EQ(rig_.run(std::move(builder).finish(), "staged:chunk=4096", 5), Problems{});
}

TEST_F(MpiStaged, MessagesOfOneChannelKeepTheirOrder) {
    Rank const next = (rig_.me() + 1) % rig_.ranks();
    Rank const previous = (rig_.me() + rig_.ranks() - 1) % rig_.ranks();
    PlanBuilder builder(rig_.me());
    GroupId const all = builder.group(rig_.world());
    for (Bytes const bytes : {Bytes{100'000}, Bytes{5}, Bytes{0}, Bytes{9000}}) {
        builder.send(all, next, bytes, 0, -1, "out." + std::to_string(bytes));
        builder.recv(all, previous, bytes, 0, -1, "in." + std::to_string(bytes));
    }
    EXPECT_EQ(rig_.run(std::move(builder).finish(), "staged:chunk=4096", 3), Problems{});
}

TEST_F(MpiStaged, PlansOnTheSameBuffersShareTheirImages) {
    PlanBuilder builder(rig_.me());
    add_exchange(builder, rig_.world(), rig_.me(), ragged, "dispatch");
    Plan const plan = std::move(builder).finish();
    Buffers const buffers = rig_.bind(plan);
    auto const pinned = [&] { return std::stoull(rig_.backend().provenance().at("mpi_staging_bytes")); };
    EXPECT_EQ(pinned(), 0U);
    {
        auto const first = rig_.backend().compile(plan, buffers, {});
        ASSERT_TRUE(first) << first.error().reason;
        auto const once = pinned();
        EXPECT_GE(once, plan.buffers[0].bytes + plan.buffers[1].bytes);
        auto const second = rig_.backend().compile(plan, buffers, parse_method("staged:by=pairwise"));
        ASSERT_TRUE(second) << second.error().reason;
        EXPECT_EQ(pinned(), once);
    }
    EXPECT_EQ(pinned(), 0U) << "given back with the plans";
}

}  // namespace
}  // namespace dlmb::mpi
