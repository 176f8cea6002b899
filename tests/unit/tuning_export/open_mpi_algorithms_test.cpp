// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The exporter's ids against those that the library prints, and what changed between versions.
#include "common/tools/tune/exporters/select_rules.hpp"
#include "tests/unit/tuning_export/open_mpi_names.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning::open_mpi_algorithms_test {
namespace {

TEST(OpenMpiAlgorithms, HaveTheIdsThatVersion414Prints) {
    for (MpiCall const collective : exported_calls) {
        auto const& names = names_by_id().at(open_mpi_id(collective));
        for (std::size_t id = 1; id < names.size(); ++id) {
            EXPECT_EQ(open_mpi_id(collective, names[id], {4, 1, 4}), static_cast<int>(id)) << names[id];
        }
    }
}

TEST(OpenMpiAlgorithms, AreKnownByVersion) {
    EXPECT_FALSE(open_mpi_id(MpiCall::allgather, "sparbit", {4, 1, 4}));
    EXPECT_EQ(open_mpi_id(MpiCall::allgather, "sparbit", {5, 0, 8}), 7);
    EXPECT_FALSE(open_mpi_id(MpiCall::allreduce, "", {4, 1, 4}));
}

TEST(OpenMpiAlgorithms, SayForWhichRanksTheyDoNotRun) {
    EXPECT_TRUE(open_mpi_obstacle("two_proc", {2, 2}).empty());
    EXPECT_FALSE(open_mpi_obstacle("two_proc", {2, 4}).empty());
    EXPECT_TRUE(open_mpi_obstacle("neighbor", {6, 6}).empty());
    EXPECT_FALSE(open_mpi_obstacle("neighbor", {5, 5}).empty());
    EXPECT_TRUE(open_mpi_obstacle("ring", {1, no_limit}).empty());
}

TEST(LibraryVersion, IsReadFromItsFirstNumbers) {
    EXPECT_EQ(parse_version("4.1.4"), (LibraryVersion{4, 1, 4}));
    EXPECT_EQ(parse_version("5.0.8rc1"), (LibraryVersion{5, 0, 8}));
    EXPECT_EQ(parse_version("6.0"), (LibraryVersion{6, 0, 0}));
    EXPECT_ANY_THROW((void)parse_version("v4"));
}

}  // namespace
}  // namespace dlmb::tuning::open_mpi_algorithms_test
