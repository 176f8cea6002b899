// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Open MPI that was told not to let its algorithms be chosen: it would take every choice and go on as before.
#include "common/backends/mpi/algorithms.hpp"
#include "tests/mpi/algorithms/plans.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

TEST(MpiAlgorithmsRefused, WithOneLineThatSaysWhatToSet) {
    if (Algorithms().catalogue().family != "open_mpi.tuned") {
        GTEST_SKIP() << "MPICH always obeys";
    }
    Rig rig;
    Plan const plan = one_operation(rig, OperationKind::all_reduce);
    auto const compiled = rig.backend().compile(plan, rig.bind(plan), parse_method("algorithm:allreduce=ring"));
    ASSERT_FALSE(compiled);
    EXPECT_NE(compiled.error().reason.find("OMPI_MCA_coll_tuned_use_dynamic_rules=1"), std::string::npos)
        << compiled.error().reason;
    EXPECT_EQ(compiled.error().reason.find('\n'), std::string::npos);
    OperationUse const use{OperationKind::all_reduce, false};
    EXPECT_EQ(rig.backend().variants(MemoryKind::host, {&use, 1}).size(), 1U) << "one cell that says so";
}

}  // namespace
}  // namespace dlmb::mpi
