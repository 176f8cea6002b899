// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Device memory over an MPI library that says that it takes it (claims_cuda_support.cpp says so).
#include "tests/conformance/run_corpus.hpp"
#include "tests/mpi/device/watched_mpi.hpp"
#include "tests/mpi/rig.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

using Problems = std::vector<std::string>;

class MpiDirect : public testing::Test {
protected:
    Rig rig_{{}, "auto", MemoryKind::cuda};
};

TEST_F(MpiDirect, TheLibraryIsAskedAndBelieved) {
    Provenance const facts = rig_.backend().provenance();
    EXPECT_EQ(facts.at("mpi_gpu_path"), "device");
    EXPECT_NE(facts.at("mpi_gpu_reason").find("says yes"), std::string::npos) << facts.at("mpi_gpu_reason");
    EXPECT_EQ(rig_.backend().methods_on(MemoryKind::cuda).front().name, "alltoall");
}

TEST_F(MpiDirect, EveryMethodRunsTheCorpusOnDevicePointersOrDeclinesWithAReason) {
    watched::reset();
    conformance::CorpusResult const result = conformance::run_corpus(rig_.bootstrap(), rig_.backend(), rig_.memory());
    EXPECT_EQ(result.problems, Problems{});
    for (conformance::Declined const& declined : result.declined) {
        bool const by_window = declined.method == "put" || declined.method == "get";
        EXPECT_FALSE(declined.required && !by_window)
            << declined.method << " must run " << declined.entry << ": " << declined.reason;
        EXPECT_FALSE(declined.reason.empty());
    }
    EXPECT_GT(watched::pointers().device, 0U);
}

TEST_F(MpiDirect, StagedIsThereToCompareWith) {
    PlanBuilder builder(rig_.me());
    add_exchange(
        builder, rig_.world(), rig_.me(), [](Rank, Rank) { return Bytes{10'000}; }, "dispatch");
    watched::reset();
    EXPECT_EQ(rig_.run(std::move(builder).finish(), "staged"), Problems{});
    EXPECT_EQ(watched::pointers().device, 0U);
}

}  // namespace
}  // namespace dlmb::mpi
