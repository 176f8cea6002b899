// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithms of NCCL that the tuner plugin forces, on the test double, which loads the plugin as NCCL does.
#include "common/formats/table/nccl_tuner_control.hpp"
#include "tests/fakes/gpu/tuner.hpp"
#include "tests/unit/nccl/call_list.hpp"
#include "tests/unit/nccl/double_rig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

namespace dlmb::nccl {
namespace {

using nccl_tuner::ll;
using nccl_tuner::ring;
using nccl_tuner::simple;
using nccl_tuner::tree;
using testing::HasSubstr;

fake_gpu::TunedChoice newest() {
    using Tell = void(fake_gpu::TunedChoice*);
    fake_gpu::TunedChoice choice;
    reinterpret_cast<Tell*>(dlsym(RTLD_DEFAULT, "dlmb_fake_gpu_tuned_choice"))(&choice);
    return choice;
}

void run(CompiledPlan& plan) {
    plan.launch();
    plan.finish();
    EXPECT_FALSE(plan.marks().empty());
}

class NcclAlgorithms : public testing::Test {
protected:
    RankOnDouble rank;
    bool const is_alone = rank.bootstrap().size() == 1;
    Plan const plan = all_reduce_plan(rank);
};

class NcclAlgorithmsOfRanks : public NcclAlgorithms {
protected:
    void SetUp() override {
        if (is_alone) {
            GTEST_SKIP() << "NCCL asks no tuner about one rank";
        }
    }
};

TEST_F(NcclAlgorithmsOfRanks, AreTakenByThePlansThatForceThemAndByNoOthers) {
    auto const by_default = rank.compile(plan, "native");
    auto const by_tree = rank.compile(plan, "algorithm:allreduce=tree:protocol=ll:channels=3");
    auto const by_ring = rank.compile(plan, "algorithm:allreduce=ring:protocol=ll");
    run(*by_tree);
    EXPECT_EQ(newest().algorithm, tree);
    EXPECT_EQ(newest().protocol, ll);
    EXPECT_EQ(newest().channels, 3);
    run(*by_ring);
    EXPECT_EQ(newest().algorithm, ring);
    EXPECT_EQ(newest().protocol, ll);
    EXPECT_EQ(newest().channels, 0);
    run(*by_default);
    EXPECT_EQ(newest().algorithm, ring);
    EXPECT_EQ(newest().protocol, simple) << "what the double likes best";
    EXPECT_EQ(by_tree->provenance().at("nccl_algorithm.allreduce"), "tree");
    EXPECT_EQ(by_tree->provenance().at("nccl_protocol"), "ll");
    EXPECT_TRUE(by_default->provenance().empty());
}

TEST_F(NcclAlgorithms, WhatNcclForbidsIsNotApplicable) {
    for (char const* const method :
         {"algorithm:allreduce=ring:protocol=ll128", "algorithm:allreduce=nvls:protocol=simple"}) {
        EXPECT_THAT(rank.refusal(plan, method),
                    HasSubstr(is_alone ? "collectives of several ranks" : "NCCL cannot run this algorithm"));
    }
}

TEST_F(NcclAlgorithmsOfRanks, ACollectiveThatNcclDecidesByItselfIsNotApplicable) {
    char const* const by_tree = "algorithm:allreduce=tree:protocol=ll";
    auto const compiled = rank.compile(plan, by_tree);
    ScopedVariable const silent("DLMB_FAKE_NCCL_ASKS_TUNER", "0");
    EXPECT_THAT(rank.refusal(plan, by_tree), HasSubstr("NCCL asked its tuner about 0 of 1 collectives"));
    EXPECT_THAT([&] { compiled->launch(); }, testing::ThrowsMessage<Error>(HasSubstr("was not taken in an iteration")))
        << "no time is taken for that of another algorithm";
}

TEST_F(NcclAlgorithmsOfRanks, OtherCollectivesOfAPlanStayNcclsOwnDecision) {
    PlanBuilder builder(rank.me());
    GroupId const world = builder.group(rank.world());
    StepId const gathered = builder.all_gather(world, 4096, Element::fp32, "parameters");
    builder.all_reduce(world, 1024, Element::fp32, Reduction::sum, "gradients", {gathered});
    builder.compute(1000, "compute");
    run(*rank.compile(std::move(builder).finish(), "algorithm:allgather=pat:protocol=simple"));
    EXPECT_EQ(newest().algorithm, ring) << "of the allreduce, which came last";
    EXPECT_EQ(newest().protocol, simple);
}

// The list of call_list_test.cpp, which is that of a plain loop.
TEST_F(NcclAlgorithmsOfRanks, MakeTheCallsOfAnIterationThatNcclDecides) {
    auto const calls = [&](char const* method) {
        auto const compiled = rank.compile(plan, method);
        compiled->keep_marks(false);
        return calls_of([&] {
            compiled->launch();
            compiled->finish();
        });
    };
    EXPECT_EQ(calls("algorithm:allreduce=tree:protocol=ll"), calls("native"));
}

TEST_F(NcclAlgorithms, EveryPairThatAllOffersRunsOrIsNotApplicable) {
    OperationUse const use{OperationKind::all_reduce, false};
    auto const variants = rank.backend().variants(MemoryKind::cuda, {&use, 1});
    EXPECT_EQ(variants.size(), 10U) << "tree and ring by three protocols, four others by simple";
    int ran = 0;
    for (MethodChoice const& choice : variants) {
        std::string const reason = rank.refusal(plan, to_string(choice).c_str());
        ran += reason == "compiled" ? 1 : 0;
        EXPECT_TRUE(reason == "compiled" || reason.starts_with("not applicable")) << reason;
    }
    EXPECT_EQ(ran, is_alone ? 0 : 4) << "tree and ring without LL128";
}

}  // namespace
}  // namespace dlmb::nccl
