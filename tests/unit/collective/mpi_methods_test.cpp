// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/methods.hpp"
#include "tests/unit/collective/collective_fixture.hpp"

#include <gtest/gtest.h>

namespace dlmb::collective {
namespace {

TEST(CollectiveOverMpi, EveryOperationHasADefaultMethod) {
    for (std::string_view const operation : kind_names) {
        auto const uses = make_collective({{"operation", std::string(operation)}}, {4, 4})->operations();
        EXPECT_NE(default_method(mpi::method_table(), uses.front()), nullptr) << operation;
    }
}

}  // namespace
}  // namespace dlmb::collective
