// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/builder.hpp"
#include "common/run/known_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlmb::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fault_of(std::string const& library, Element element, Reduction reduction,
                     std::map<std::string, std::string> const& variables = {}) {
    record::Record cell;
    cell.backend_facts["mpi_library"] = library;
    PlanBuilder builder(0);
    builder.all_reduce(builder.group({{0, 1}}), 64, element, reduction, "sum");
    std::vector<Plan> const plans{std::move(builder).finish()};
    return known_fault(cell, plans, variables);
}

constexpr char const* debian_12 = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";

TEST(KnownFaults, AreNamedWithVersionRemedyAndThread) {
    for (Element const element : {Element::byte, Element::int8}) {
        EXPECT_THAT(fault_of(debian_12, element, Reduction::sum),
                    AllOf(HasSubstr("a known fault of Open MPI v4.1.4: "), HasSubstr("saturation"),
                          HasSubstr("set OMPI_MCA_op=^avx"),
                          HasSubstr("https://github.com/open-mpi/ompi/issues/8045")));
    }
}

TEST(KnownFaults, AreNotBlamedForWhatTheyDoNotDo) {
    EXPECT_EQ(fault_of(debian_12, Element::int32, Reduction::sum), "");
    EXPECT_EQ(fault_of(debian_12, Element::byte, Reduction::max), "");
    EXPECT_EQ(fault_of("Open MPI v4.0.7, package: own", Element::byte, Reduction::sum), "");
    EXPECT_EQ(fault_of("MPICH Version: 4.0.2", Element::byte, Reduction::sum), "");
    EXPECT_EQ(fault_of(debian_12, Element::byte, Reduction::sum, {{"OMPI_MCA_op", "^avx"}}), "");
}

}  // namespace
}  // namespace dlmb::run
