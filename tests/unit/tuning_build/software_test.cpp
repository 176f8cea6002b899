// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/table/table.hpp"
#include "common/tools/tune/build/observe.hpp"

#include <gtest/gtest.h>

namespace dlmb::tuning {
namespace {

TEST(Software, AnMpiLibraryHasANameAndAVersion) {
    EXPECT_EQ(mpi_library("Open MPI v4.1.4, package: Debian Open MPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022"),
              (MpiLibrary{"Open MPI", "4.1.4"}));
    EXPECT_EQ(mpi_library("MPICH Version: 4.0.2"), (MpiLibrary{"MPICH", "4.0.2"}));
    EXPECT_EQ(mpi_library("MPICH Version:\t4.0.2"), (MpiLibrary{"MPICH", "4.0.2"})) << "as the library prints it";
    EXPECT_EQ(mpi_library("MVAPICH2 Version : 2.3.7"), (MpiLibrary{"MVAPICH2 Version", "2.3.7"}));
    EXPECT_EQ(mpi_library("Another: 7"), (MpiLibrary{"Another", "7"}));
    EXPECT_EQ(mpi_library("without numbers"), (MpiLibrary{"without numbers", ""}));
}

TEST(Software, VersionsAreThoseOfTheBackendsLibrary) {
    record::Record cell;
    EXPECT_EQ(library_versions(cell), Versions{});
    cell.backend_facts = {{"ucx_version", "1.13.1"}, {"transports", "self"}};
    EXPECT_EQ(library_versions(cell), (Versions{{"ucx", "1.13.1"}}));
    cell.backend_facts = {{"nccl_version", "22809"}};
    EXPECT_EQ(library_versions(cell), (Versions{{"nccl", "2.28.9"}}));
}

TEST(Software, AnotherVersionIsNamedWhereBothHaveOne) {
    EXPECT_EQ(other_version({{"nccl", "2.28.9"}, {"ucx", "1.15.0"}}, {{"ucx", "1.13.1"}}),
              "ucx 1.15.0 instead of 1.13.1");
    EXPECT_EQ(other_version({{"ucx", "1.13.1"}}, {{"ucx", "1.13.1"}}), "");
    EXPECT_EQ(other_version({{"ucx", "1.13.1"}}, {{"nccl", "2.28.9"}}), "");
}

}  // namespace
}  // namespace dlmb::tuning
