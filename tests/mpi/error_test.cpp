// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What the mpi backend refuses, and what its faults say.
#include "common/backends/mpi/collectives.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_check.hpp"
#include "tests/mpi/rig.hpp"
#include "tests/unit/usage_error_of.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

namespace dlmb::mpi {
namespace {

Plan one_exchange(Rig const& rig, Bytes bytes) {
    PlanBuilder builder(rig.me());
    add_exchange(
        builder, rig.world(), rig.me(), [bytes](Rank, Rank) { return bytes; }, "dispatch");
    return std::move(builder).finish();
}

std::string usage_error(Rig& rig, MethodChoice const& method) {
    Plan const plan = one_exchange(rig, 64);
    return usage_error_of([&] { (void)rig.backend().compile(plan, rig.bind(plan), method); });
}

TEST(MpiErrors, AnUnknownMethodNamesTheNearestOne) {
    Rig rig;
    std::string const text = usage_error(rig, {"altoallv", {}});
    EXPECT_NE(text.find("altoallv"), std::string::npos) << text;
    EXPECT_NE(text.find("alltoallv"), std::string::npos) << text;
}

TEST(MpiErrors, AnUnknownKnobNamesThoseTheMethodHas) {
    Rig rig;
    std::string const of_pairwise = usage_error(rig, {"pairwise", {{"window", "4"}}});
    EXPECT_NE(of_pairwise.find("window"), std::string::npos) << of_pairwise;
    EXPECT_NE(of_pairwise.find("max_outstanding"), std::string::npos) << of_pairwise;
    EXPECT_NE(usage_error(rig, {"alltoallv", {{"max_outstanding", "4"}}}).find("has none"), std::string::npos);
    for (char const* const value : {"0", "-1", "4x", "99999999999"}) {
        EXPECT_NE(usage_error(rig, {"pairwise", {{"max_outstanding", value}}}).find(value), std::string::npos);
    }
}

std::string refusal(Rig& rig, MemoryKind kind, std::string_view method) {
    Plan const plan = one_exchange(rig, 64);
    Buffers buffers = rig.bind(plan);
    buffers.kind = kind;
    auto const compiled = rig.backend().compile(plan, buffers, parse_method(method));
    return compiled ? "" : compiled.error().reason;
}

TEST(MpiErrors, ALibraryThatTakesNoDeviceMemoryIsNotGivenAny) {
    Rig rig({}, "no");
    std::string const reason = refusal(rig, MemoryKind::cuda, "alltoallv");
    EXPECT_NE(reason.find("cuda"), std::string::npos) << reason;
    EXPECT_NE(reason.find("--mpi-device no"), std::string::npos) << reason;
    EXPECT_NE(reason.find("staged"), std::string::npos) << "what to do instead: " << reason;
}

TEST(MpiErrors, HostMemoryIsNotStaged) {
    Rig rig;
    EXPECT_NE(refusal(rig, MemoryKind::host, "staged").find("host"), std::string::npos);
}

TEST(MpiErrors, WhatOneRankCannotRunIsUnsupportedOnAllRanks) {
    // Rank 0 alone has the step, on a group of its own: the others have to learn the reason from it.
    Rig rig;
    PlanBuilder builder(rig.me());
    add_exchange(
        builder, rig.world(), rig.me(), [](Rank, Rank) { return Bytes{64}; }, "dispatch");
    if (rig.me() == 0) {
        GroupId const own = builder.group({{0}});
        builder.send(own, 0, 8, -1, -1, "handover");
        builder.recv(own, 0, 8, -1, -1, "handover");
    }
    Plan const plan = std::move(builder).finish();
    Buffers const buffers = rig.bind(plan);
    auto const compiled = rig.backend().compile(plan, buffers, {});
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().reason.substr(0, 32), "mpi: send \"handover\": channel -1");
}

// A count of 3 GiB wraps to a negative int where the limit that guards it is lifted. MPI refuses it on every rank
// before it touches memory or communicates. (A truncated message would not do: where it arrives before its receive is
// posted, Open MPI 4.1.4 was seen to stay in MPI_Waitall for ever, with a plain C program too.)
TEST(MpiErrors, AFailedCallNamesRankCallMethodStepAndPlaceInTheCode) {
    Rig rig({.call_bytes = Bytes{1} << 40});
    Plan const plan = one_exchange(rig, Bytes{3} << 30);
    std::vector<std::byte> memory(64);
    Buffers const buffers{MemoryKind::host, std::vector<std::byte*>(plan.buffers.size(), memory.data())};
    auto compiled = rig.backend().compile(plan, buffers, {"alltoallv", {}});
    ASSERT_TRUE(compiled);
    try {
        compiled.value()->launch();
        FAIL() << "MPI took a negative count";
    } catch (Error const& error) {
        std::string const text = error.what();
        for (std::string const& part :
             {"rank " + std::to_string(rig.me()) + ": MPI_Alltoallv: ", std::string("in mpi/alltoallv, host memory, "),
              std::to_string(rig.ranks()) + " ranks, iteration 0 of this plan, step 0 \"dispatch\"",
              std::string("common/backends/mpi/exchanges.cpp:")}) {
            EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
        }
    }
}

/// What launching a broadcast of so many bytes that its count is negative says.
std::string broadcast_failure(std::string_view method) {
    Rig rig({.call_bytes = Bytes{1} << 40});
    PlanBuilder builder(rig.me());
    builder.broadcast(builder.group(rig.world()), 0, Bytes{3} << 30, Element::byte, "weights");
    Plan const plan = std::move(builder).finish();
    std::vector<std::byte> memory(64);
    Buffers const buffers{MemoryKind::host, std::vector<std::byte*>(plan.buffers.size(), memory.data())};
    auto compiled = rig.backend().compile(plan, buffers, parse_method(method));
    try {
        compiled.value()->launch();
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

TEST(MpiErrors, AFailedCollectiveIsNamedInItsForm) {
    for (auto const& [method, call] :
         {std::pair("blocking", "MPI_Bcast: "), std::pair("nonblocking", "MPI_Ibcast: ")}) {
        std::string const text = broadcast_failure(method);
        EXPECT_NE(text.find(call), std::string::npos) << text;
        EXPECT_NE(text.find("common/backends/mpi/collectives.hpp:"), std::string::npos) << text;
    }
}

TEST(MpiErrors, CollectiveCallsAreNamedAsMpiDoes) {
    EXPECT_EQ(call_name("MPI_{}", MpiCall::reduce), "MPI_Reduce");
    EXPECT_EQ(call_name("MPI_I{}", MpiCall::reduce), "MPI_Ireduce");
    EXPECT_EQ(call_name("MPI_{}_init", MpiCall::reduce_scatter_block), "MPI_Reduce_scatter_block_init");
    EXPECT_EQ(call_name("MPIX_{}_init", MpiCall::bcast), "MPIX_Bcast_init");
}

TEST(MpiErrors, CheckNamesTheCallAndTheReason) {
    EXPECT_NO_THROW(check(MPI_SUCCESS, "MPI_Barrier"));
    try {
        check(MPI_ERR_COUNT, "MPI_Alltoallv");
        FAIL() << "an error code passed";
    } catch (CallFailed const& error) {
        EXPECT_NE(error.summary().find("MPI_Alltoallv: "), std::string::npos);
        EXPECT_NE(error.summary().find("count"), std::string::npos) << error.summary();
    }
}

}  // namespace
}  // namespace dlmb::mpi
