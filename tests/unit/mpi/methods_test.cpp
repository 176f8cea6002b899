// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a choice of the command line is read where the payload may be staged.
#include "common/backends/mpi/methods.hpp"
#include "common/base/error.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

std::string usage_error(std::string_view choice) {
    try {
        (void)read_method(parse_method(choice));
    } catch (UsageError const& error) {
        return error.what();
    }
    return "";
}

TEST(MpiMethods, StagedHasAChunkAndTheDefaultCallsUnlessToldOtherwise) {
    Method const method = read_method(parse_method("staged"));
    EXPECT_TRUE(method.staged);
    EXPECT_EQ(method.id, MethodId::alltoallv);
    EXPECT_EQ(method.chunk_bytes, Bytes{2} << 20);
}

TEST(MpiMethods, StagedTakesTheKnobsOfTheMethodOfItsCalls) {
    Method const method = read_method(parse_method("staged:chunk=64K:max_outstanding=3:by=pairwise"));
    EXPECT_TRUE(method.staged);
    EXPECT_EQ(method.id, MethodId::pairwise);
    EXPECT_EQ(method.max_outstanding, 3);
    EXPECT_EQ(method.chunk_bytes, 65536U);
}

TEST(MpiMethods, WhatStagedCannotReadIsAUsageErrorThatNamesIt) {
    EXPECT_NE(usage_error("staged:by=staged").find("staged"), std::string::npos);
    EXPECT_NE(usage_error("staged:by=pairwize").find("pairwise"), std::string::npos);
    EXPECT_NE(usage_error("staged:chunk=100").find("4096"), std::string::npos);
    EXPECT_NE(usage_error("staged:chunk=2MB").find("2MB"), std::string::npos);
    EXPECT_NE(usage_error("staged:max_outstanding=2").find("max_outstanding"), std::string::npos)
        << "alltoallv has no such knob";
    EXPECT_NE(usage_error("alltoallv:chunk=1M").find("has none"), std::string::npos);
}

TEST(MpiMethods, DefaultIsWhatTheMemoryAsksFor) {
    EXPECT_FALSE(read_method({}).staged);
    EXPECT_TRUE(read_method({}, "staged").staged);
    EXPECT_FALSE(read_method(parse_method("pairwise"), "staged").staged);
}

TEST(MpiMethods, StagedIsTheOnlyMethodThatIsNotDirect) {
    EXPECT_EQ(direct_methods().size() + staged_method().size(), plain_methods().size());
    ASSERT_EQ(staged_method().size(), 1U);
    EXPECT_EQ(staged_method().front().name, "staged");
}

TEST(MpiMethods, AlgorithmNamesCallsAndWhatTheirAlgorithmsAreTold) {
    Method const method =
        read_method(parse_method("algorithm:alltoall=pairwise:bcast=chain:segment=64K:chain_fanout=2"));
    EXPECT_TRUE(method.by_algorithm());
    EXPECT_EQ(method.id, MethodId::alltoall) << "the call that is named does the exchanges";
    EXPECT_EQ(method.algorithms.algorithms.at(CollectiveCall::bcast), "chain");
    EXPECT_EQ(method.algorithms.settings.at(AlgorithmSetting::segment), 65536);
    EXPECT_EQ(method.algorithms.settings.at(AlgorithmSetting::chain_fanout), 2);
    EXPECT_EQ(read_method(parse_method("algorithm:bcast=chain")).id, MethodId::alltoallv);
    EXPECT_NE(usage_error("algorithm:gather=chain").find("gather"), std::string::npos);
    EXPECT_NE(usage_error("algorithm:bcast=chain:tree_fanout=-1").find("-1"), std::string::npos);
    EXPECT_NE(usage_error("algorithm:bcast=chain:segment=2G").find("2G"), std::string::npos);
    EXPECT_NE(usage_error("blocking:bcast=chain").find("has none"), std::string::npos);
}

}  // namespace
}  // namespace dlmb::mpi
