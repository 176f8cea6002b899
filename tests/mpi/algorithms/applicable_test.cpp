// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Every algorithm that the library offers is right or declined with a reason; none is another one in silence.
#include "common/backends/mpi/algorithms.hpp"
#include "tests/mpi/algorithms/plans.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

/// `fewest`: algorithms that both libraries have and that run on any number of ranks.
struct Offered {
    OperationUse use;
    int fewest = 2;
};
constexpr Offered operations[] = {{{OperationKind::all_reduce, true}},     {{OperationKind::reduce, true}},
                                  {{OperationKind::reduce_scatter, true}}, {{OperationKind::reduce_scatter, false}},
                                  {{OperationKind::all_gather, true}},     {{OperationKind::all_gather, false}, 0},
                                  {{OperationKind::gather, true}},         {{OperationKind::gather, false}, 0},
                                  {{OperationKind::scatter, true}},        {{OperationKind::scatter, false}, 0},
                                  {{OperationKind::broadcast, true}},      {{OperationKind::exchange, true}},
                                  {{OperationKind::barrier, true}}};

std::string reason(Rig& rig, Plan const& plan, std::string const& method) {
    auto const compiled = rig.backend().compile(plan, rig.bind(plan), parse_method(method));
    return compiled ? "" : compiled.error().reason;
}

bool on_open_mpi() {
    return Algorithms().catalogue().family == "open_mpi.tuned";
}

TEST(MpiAlgorithmsOffered, AllDeliverEveryByteOrAreDeclined) {
    Rig rig;
    for (auto const& [use, fewest] : operations) {
        Plan const plan = one_operation(rig, use.kind, usual_bytes, !use.uniform);
        int ran = 0;
        for (MethodChoice const& choice : rig.backend().variants(MemoryKind::host, {&use, 1})) {
            std::string const name = to_string(choice);
            if (std::string const why = reason(rig, plan, name); why.empty()) {
                EXPECT_EQ(rig.run(plan, name), std::vector<std::string>{}) << name;
                ++ran;
            } else {
                EXPECT_NE(why.find("not applicable"), std::string::npos) << name << ": " << why;
                EXPECT_EQ(why.find('\n'), std::string::npos) << why;
            }
        }
        EXPECT_GE(ran, fewest) << "of " << name_of(use.kind) << (use.uniform ? "" : " with shares");
    }
}

TEST(MpiAlgorithmsOffered, SendAndRecvHaveNone) {
    Rig rig;
    OperationUse const use{OperationKind::send, false};
    EXPECT_TRUE(rig.backend().variants(MemoryKind::host, {&use, 1}).empty());
}

// two_proc says so itself, with an error code; the others would run another algorithm.
TEST(MpiAlgorithmsOffered, WhatDoesNotFitTheRanksIsDeclined) {
    if (!on_open_mpi()) {
        GTEST_SKIP() << "algorithms of Open MPI";
    }
    Rig rig;
    Plan const gather = one_operation(rig, OperationKind::all_gather);
    Plan const exchange = one_operation(rig, OperationKind::exchange);
    bool const pair = rig.ranks() == 2;
    EXPECT_EQ(reason(rig, gather, "algorithm:allgather=two_proc").empty(), pair);
    EXPECT_EQ(reason(rig, exchange, "algorithm:alltoall=two_proc").empty(), pair);
    EXPECT_EQ(reason(rig, gather, "algorithm:allgather=neighbor").empty(), rig.ranks() % 2 == 0);
    Plan const small = one_operation(rig, OperationKind::all_reduce, 4);
    EXPECT_NE(reason(rig, small, "algorithm:allreduce=ring").find("recursive_doubling"), std::string::npos);
    EXPECT_NE(reason(rig, small, "algorithm:allreduce=rabenseifner").find("basic_linear"), std::string::npos);
}

TEST(MpiAlgorithmsOffered, MpichDeclinesWhatItWouldReplace) {
    if (on_open_mpi()) {
        GTEST_SKIP() << "algorithms of MPICH";
    }
    Rig rig;
    EXPECT_NE(reason(rig, one_operation(rig, OperationKind::exchange), "algorithm:alltoall=pairwise_sendrecv_replace")
                  .find("not applicable"),
              std::string::npos)
        << "it takes buffers in place only";
}

// Equal parts are MPI_Reduce_scatter_block, named ones MPI_Reduce_scatter, whose algorithms are others.
TEST(MpiAlgorithmsOffered, BelongToTheFormOfTheCall) {
    Rig rig;
    Plan const block = one_operation(rig, OperationKind::reduce_scatter);
    Plan const counts = one_operation(rig, OperationKind::reduce_scatter, usual_bytes, true);
    EXPECT_EQ(reason(rig, block, "algorithm:reduce_scatter_block=recursive_halving"), "");
    EXPECT_EQ(reason(rig, counts, "algorithm:reduce_scatter=recursive_halving"), "");
    EXPECT_NE(reason(rig, counts, "algorithm:reduce_scatter_block=recursive_halving").find("no step"),
              std::string::npos);
    EXPECT_NE(reason(rig, block, "algorithm:reduce_scatter=recursive_halving").find("no step"), std::string::npos);
}

TEST(MpiAlgorithmsOffered, APlanWithoutTheCallIsDeclined) {
    Rig rig;
    EXPECT_NE(reason(rig, one_operation(rig, OperationKind::all_gather), "algorithm:allreduce=recursive_doubling")
                  .find("no step"),
              std::string::npos);
    std::string const bare = reason(rig, one_operation(rig, OperationKind::all_gather), "algorithm");
    EXPECT_NE(bare.find("name one"), std::string::npos) << bare;
}

TEST(MpiAlgorithmsOffered, WhatIsNotOfferedIsAUsageErrorThatNamesTheNearest) {
    Rig rig;
    Plan const plan = one_operation(rig, OperationKind::all_reduce);
    auto const usage_error = [&](std::string const& method) {
        return usage_error_of([&] { (void)reason(rig, plan, method); });
    };
    EXPECT_NE(usage_error("algorithm:allreduce=recursive_dubling").find("recursive_doubling"), std::string::npos);
    EXPECT_NE(usage_error("algorithm:allreduce=recursive_doubling:segment=1MB").find("1MB"), std::string::npos);
    EXPECT_NE(usage_error("algorithm:allreduce=recursive_doubling:max_requests=4").find("max_requests"),
              std::string::npos)
        << "no library has it for allreduce";
    EXPECT_NE(usage_error("algorithm:allreduze=ring").find("allreduze"), std::string::npos);
}

// From the sources of Open MPI that algorithm_catalogue.cpp names.
TEST(OpenMpiFallBacks, AreThoseOfItsSources) {
    start_tool_interface();
    AlgorithmCatalogue const open_mpi = open_mpi_algorithms();
    auto const runs = [&](MpiCall call, std::string_view algorithm, Bytes segment, CallSize const& size) {
        return open_mpi.falls_back(call, algorithm, segment, size).empty();
    };
    EXPECT_TRUE(runs(MpiCall::allreduce, "ring", 0, {4, 4, 4}));
    EXPECT_FALSE(runs(MpiCall::allreduce, "ring", 0, {4, 3, 4}));
    EXPECT_TRUE(runs(MpiCall::allreduce, "rabenseifner", 0, {7, 4, 4}));
    EXPECT_FALSE(runs(MpiCall::allreduce, "rabenseifner", 0, {7, 3, 4}));
    EXPECT_TRUE(runs(MpiCall::allreduce, "segmented_ring", 1024, {4, 1024, 4}));
    EXPECT_FALSE(runs(MpiCall::allreduce, "segmented_ring", 1024, {4, 1023, 4}));
    EXPECT_FALSE(runs(MpiCall::allreduce, "segmented_ring", 0, {4, 1 << 20, 4}));
    EXPECT_TRUE(runs(MpiCall::allgather, "neighbor", 0, {6, 1, 4}));
    EXPECT_FALSE(runs(MpiCall::allgather, "neighbor", 0, {7, 1, 4}));
    EXPECT_TRUE(runs(MpiCall::allgather, "recursive_doubling", 0, {8, 1, 4}));
    EXPECT_FALSE(runs(MpiCall::allgather, "recursive_doubling", 0, {6, 1, 4}));
    EXPECT_TRUE(runs(MpiCall::bcast, "split_binary_tree", 0, {4, 2, 4}));
    EXPECT_FALSE(runs(MpiCall::bcast, "split_binary_tree", 0, {4, 1, 4}));
    EXPECT_FALSE(runs(MpiCall::bcast, "split_binary_tree", 64, {4, 31, 4}));
    EXPECT_FALSE(runs(MpiCall::bcast, "scatter_allgather_ring", 0, {4, 3, 4}));
    EXPECT_TRUE(runs(MpiCall::alltoall, "pairwise", 0, {7, 0, 1}));
    EXPECT_TRUE(runs(MpiCall::reduce, "rabenseifner", 0, {7, 4, 4}));
    EXPECT_FALSE(runs(MpiCall::reduce, "rabenseifner", 0, {7, 3, 4}));
    EXPECT_FALSE(runs(MpiCall::reduce, "rabenseifner", 0, {1, 3, 4}));
    EXPECT_TRUE(runs(MpiCall::allgatherv, "neighbor", 0, {6, 1, 4}));
    EXPECT_FALSE(runs(MpiCall::allgatherv, "neighbor", 0, {7, 1, 4}));
}

}  // namespace
}  // namespace dlmb::mpi
