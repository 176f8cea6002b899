// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a choice of the command line is read where the payload may be staged.
#include "common/backends/mpi/methods.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

using testing::HasSubstr;

std::string usage_error(std::string_view choice) {
    return usage_error_of([&] { (void)read_method(parse_method(choice)); });
}

TEST(MpiMethods, StagedHasAChunkAndTheDefaultCallsUnlessToldOtherwise) {
    ChosenMethod const method = read_method(parse_method("staged"));
    EXPECT_EQ(method.row->kind, MethodKind::staged);
    EXPECT_EQ(method.calls->info.name, "alltoallv");
    EXPECT_EQ(method.chunk_bytes, Bytes{2} << 20);
}

TEST(MpiMethods, StagedTakesTheKnobsOfTheMethodOfItsCalls) {
    ChosenMethod const method = read_method(parse_method("staged:chunk=64K:max_outstanding=3:by=pairwise"));
    EXPECT_EQ(method.row->kind, MethodKind::staged);
    EXPECT_EQ(method.calls->info.name, "pairwise");
    EXPECT_EQ(method.max_outstanding, 3);
    EXPECT_EQ(method.chunk_bytes, 65536U);
}

TEST(MpiMethods, WhatStagedCannotReadIsAUsageErrorThatNamesIt) {
    EXPECT_THAT(usage_error("staged:by=staged"), HasSubstr("staged"));
    EXPECT_THAT(usage_error("staged:by=threads"), HasSubstr("threads"));
    EXPECT_THAT(usage_error("staged:by=pairwize"), HasSubstr("pairwise"));
    EXPECT_THAT(usage_error("staged:chunk=100"), HasSubstr("4096"));
    EXPECT_THAT(usage_error("staged:chunk=2MB"), HasSubstr("2MB"));
    EXPECT_THAT(usage_error("staged:max_outstanding=2"), HasSubstr("max_outstanding")) << "alltoallv has no such knob";
    EXPECT_THAT(usage_error("alltoallv:chunk=1M"), HasSubstr("has none"));
}

TEST(MpiMethods, DefaultIsWhatTheMemoryAsksFor) {
    EXPECT_EQ(read_method({}).row->info.name, "alltoallv");
    EXPECT_EQ(read_method({}, "staged").row->info.name, "staged");
    EXPECT_EQ(read_method(parse_method("pairwise"), "staged").row->info.name, "pairwise");
}

TEST(MpiMethods, TheTableHasTheDirectMethodsThenStagedAlgorithmAndThreads) {
    ASSERT_EQ(count_of_direct_methods() + 1, count_of_plain_methods());
    EXPECT_EQ(method_table()[count_of_direct_methods()].name, "staged");
    EXPECT_EQ(method_table()[count_of_plain_methods()].name, "algorithm");
    EXPECT_EQ(method_table().back().name, "threads");
}

TEST(MpiMethods, AlgorithmNamesCallsAndWhatTheirAlgorithmsAreTold) {
    ChosenMethod const method =
        read_method(parse_method("algorithm:alltoall=pairwise:bcast=chain:segment=64K:chain_fanout=2"));
    EXPECT_EQ(method.row->kind, MethodKind::algorithm);
    EXPECT_EQ(method.calls->info.name, "alltoall") << "the call that is named does the exchanges";
    EXPECT_EQ(method.algorithms.algorithms.at(MpiCall::bcast), "chain");
    EXPECT_EQ(method.algorithms.settings.at(AlgorithmSetting::segment), 65536);
    EXPECT_EQ(method.algorithms.settings.at(AlgorithmSetting::chain_fanout), 2);
    EXPECT_EQ(read_method(parse_method("algorithm:bcast=chain")).calls->info.name, "alltoallv");
    EXPECT_THAT(usage_error("algorithm:gather_all=chain"), HasSubstr("gather_all"));
    EXPECT_THAT(usage_error("algorithm:bcast=chain:tree_fanout=-1"), HasSubstr("-1"));
    EXPECT_THAT(usage_error("algorithm:bcast=chain:segment=2G"), HasSubstr("2G"));
    EXPECT_THAT(usage_error("blocking:bcast=chain"), HasSubstr("has none"));
}

TEST(MpiMethods, OneSidedMethodsHaveASynchronizationAndAKindOfWindow) {
    EXPECT_EQ(read_method(parse_method("put")).sync, OneSidedSync::flush);
    ChosenMethod const method = read_method(parse_method("get:sync=pscw:window=allocate"));
    EXPECT_EQ(method.sync, OneSidedSync::pscw);
    EXPECT_TRUE(method.allocate_windows);
    EXPECT_EQ(read_method(parse_method("staged:by=put:sync=lock")).sync, OneSidedSync::lock);
    EXPECT_THAT(usage_error("put:sync=flush_local"), HasSubstr("tells nothing of the target"));
    EXPECT_THAT(usage_error("accumulate:window=dynamic"), HasSubstr("create or allocate"));
    EXPECT_THAT(usage_error("put:depth=2"), HasSubstr("sync=flush|lock"));
}

TEST(MpiMethods, TheDefaultOfAnOperationIsTheFirstMethodThatTakesAllOfIt) {
    EXPECT_EQ(row_for(find_method("alltoall"), OperationKind::exchange).info.name, "alltoall");
    EXPECT_EQ(row_for(find_method("blocking"), OperationKind::exchange).info.name, "alltoallv");
    EXPECT_EQ(row_for(find_method("alltoallv"), OperationKind::send).info.name, "blocking");
    EXPECT_EQ(row_for(find_method("pairwise"), OperationKind::broadcast).info.name, "blocking");
    for (OperationKind const kind : {OperationKind::reduce, OperationKind::gather, OperationKind::barrier}) {
        EXPECT_EQ(row_for(find_method("alltoallv"), kind).info.name, "blocking");
    }
    EXPECT_THROW((void)row_for(find_method("alltoallv"), OperationKind::compute), Error);
}

}  // namespace
}  // namespace dlmb::mpi
