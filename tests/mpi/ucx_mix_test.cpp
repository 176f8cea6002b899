// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Two libraries in one launch. Without quiesce() and a bootstrap that keeps the worker moving, a rank inside MPI
// starves a peer that waits for its transport: a hang in a few of a hundred runs.
#include "tests/mpi/ucx_rig.hpp"

#include <mpi.h>

namespace dlmb::ucx {
namespace {

constexpr std::uint32_t alternations = 50;
constexpr auto two_mib = [](Rank, Rank) { return Bytes{2} << 20; };

TEST(UcxMixed, ControlCallsRightAfterAnExchangeNeverHang) {
    auto const bootstrap = make_mpi_bootstrap();
    auto const ucx = std::move(make_backend("ucx", {*bootstrap})).value();
    BoundPlan bound(*bootstrap, *ucx, exchange_plan(*bootstrap, two_mib));
    for (std::uint32_t i = 0; i < alternations; ++i) {
        bound.run_checked(i);
        std::int64_t sum = bootstrap->rank();
        bootstrap->all_reduce({&sum, 1}, Fold::sum);  // no quiesce: the bootstrap progresses the worker
        EXPECT_EQ(sum, bootstrap->size() * (bootstrap->size() - 1) / 2);
    }
}

TEST(UcxMixed, BlockingMpiCallsAfterQuiesceNeverHang) {
    auto const bootstrap = make_mpi_bootstrap();
    auto const ucx = std::move(make_backend("ucx", {*bootstrap})).value();
    auto const both = [](Rank from, Rank to) { return (from + to) % 2 == 0 ? Bytes{20'000} : Bytes{2} << 20; };
    BoundPlan large(*bootstrap, *ucx, exchange_plan(*bootstrap, two_mib));
    BoundPlan mixed(*bootstrap, *ucx, exchange_plan(*bootstrap, both));
    for (std::uint32_t i = 0; i < alternations; ++i) {
        (i % 2 == 0 ? large : mixed).run();
        ucx->quiesce();
        int highest = bootstrap->rank();
        MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);  // progresses no worker of ours
        EXPECT_EQ(highest, bootstrap->size() - 1);
    }
}

}  // namespace
}  // namespace dlmb::ucx
