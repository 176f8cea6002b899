// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/nccl/methods.hpp"
#include "common/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::nccl {
namespace {

std::string refusal(std::string_view text) {
    try {
        (void)read_method(parse_method(text));
    } catch (UsageError const& error) {
        return error.what();
    }
    return "accepted";
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

TEST(NcclMethods, WhatIsUnknownIsNamed) {
    EXPECT_THAT(refusal("grahp"), testing::HasSubstr("graph"));
    EXPECT_EQ(refusal("grouped:exchange=native"),
              "--method grouped:exchange=native: unknown knob 'exchange'; nccl grouped has none");
    EXPECT_EQ(refusal("graph:exchange=fast"),
              "--method graph:exchange=fast: exchange=fast: expected grouped or native");
}

}  // namespace
}  // namespace dlmb::nccl
