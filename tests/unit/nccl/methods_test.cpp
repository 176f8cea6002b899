// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/methods.hpp"
#include "common/base/error.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

std::string refusal(std::string_view text) {
    return usage_error_of([&] { (void)read_method(parse_method(text)); });
}

TEST(NcclMethods, ExchangesAreGroupedByDefaultAndCollectivesTheLibrarys) {
    EXPECT_EQ(default_method(method_table(), {OperationKind::exchange, true})->name, "grouped");
    EXPECT_EQ(default_method(method_table(), {OperationKind::send, false})->name, "grouped");
    EXPECT_EQ(default_method(method_table(), {OperationKind::all_reduce, false})->name, "native");
}

TEST(NcclMethods, RaggedExchangesAreNotOfferedTheLibrarysAllToAll) {
    OperationUse const ragged{OperationKind::exchange, false};
    for (MethodInfo const& method : methods_for(method_table(), {&ragged, 1})) {
        EXPECT_NE(method.name, "native");
    }
}

TEST(NcclMethods, GraphAndRegisteredChooseHowExchangesAreDone) {
    EXPECT_FALSE(read_method(parse_method("graph")).all_to_all);
    EXPECT_TRUE(read_method(parse_method("graph:exchange=native")).all_to_all);
    EXPECT_TRUE(read_method(parse_method("registered:exchange=native")).registered);
}

TEST(NcclMethods, AnAlgorithmIsOfACollectiveAndHasAProtocol) {
    AlgorithmChoice const choice =
        *read_method(parse_method("algorithm:allreduce=tree:allgather=ring:protocol=ll128:channels=4")).algorithm;
    EXPECT_EQ(choice.algorithms,
              (std::map<nccl_tuner::Function, int>{{nccl_tuner::all_gather, 1}, {nccl_tuner::all_reduce, 0}}));
    EXPECT_EQ(choice.protocol, 1);
    EXPECT_EQ(choice.channels, 4);
    EXPECT_EQ(facts_of(choice).at("nccl_algorithm.allreduce"), "tree");
    EXPECT_THAT(refusal("algorithm:allreduce=rong:protocol=ll"), testing::HasSubstr("ring"));
    EXPECT_THAT(refusal("algorithm:allreduce=ring:protocol=l128"), testing::HasSubstr("ll128"));
    EXPECT_THAT(refusal("algorithm:alltoall=ring:protocol=ll"), testing::HasSubstr("unknown knob 'alltoall'"));
    EXPECT_THAT(refusal("algorithm:allreduce=ring:protocol=ll:channels=0"), testing::HasSubstr("from 1 up"));
    EXPECT_THAT(refusal("algorithm:allreduce=ring"), testing::HasSubstr("protocol=simple"));
    EXPECT_THAT(refusal("algorithm:protocol=ll"), testing::HasSubstr("algorithm:allreduce=ring"));
}

TEST(NcclMethods, VariantsArePairsOfTheCollectivesThatAPlanHas) {
    OperationUse const uses[] = {{OperationKind::exchange, false}, {OperationKind::broadcast, false}};
    std::vector<std::string> names;
    for (MethodChoice const& choice : algorithm_variants(uses)) {
        EXPECT_EQ(refusal(to_string(choice)), "accepted");
        names.push_back(to_string(choice));
    }
    EXPECT_THAT(names,
                testing::ElementsAre("algorithm:broadcast=ring:protocol=ll", "algorithm:broadcast=ring:protocol=ll128",
                                     "algorithm:broadcast=ring:protocol=simple"));
    OperationUse const exchange{OperationKind::exchange, true};
    EXPECT_TRUE(algorithm_variants({&exchange, 1}).empty());
}

TEST(NcclMethods, WhatIsUnknownIsNamed) {
    EXPECT_THAT(refusal("grahp"), testing::HasSubstr("graph"));
    EXPECT_EQ(refusal("grouped:exchange=native"),
              "--method grouped:exchange=native: unknown knob 'exchange'; nccl grouped has none");
    EXPECT_EQ(refusal("graph:exchange=fast"),
              "--method graph:exchange=fast: exchange=fast: expected grouped or native");
}

bool cleared = false;  // by the plugin below, which is functions without state

TEST(Forcing, EndsTheLaunchWhereAnOlderPluginDoesNotKnowTheAlgorithm) {
    nccl_tuner::Control const older{nccl_tuner::control_version, sizeof(nccl_tuner::Control),
                                    [](int, int, int, int) { return -1; }, [] { cleared = true; },
                                    [] { return nccl_tuner::Counters{}; }};
    AlgorithmChoice const choice = read_method(parse_method("algorithm:allreduce=ring:protocol=ll")).algorithm.value();
    EXPECT_THROW(Forcing(older, choice), Error);
    EXPECT_TRUE(cleared);
}

}  // namespace
}  // namespace dlmb::nccl
