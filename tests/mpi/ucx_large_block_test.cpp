// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/ucx_rig.hpp"

namespace dlmb::ucx {
namespace {

class UcxLargeBlock : public testing::TestWithParam<char const*> {};

TEST_P(UcxLargeBlock, ABlockAbove2GiBArrivesWhole) {
    auto const bootstrap = make_mpi_bootstrap();
    auto const backend = std::move(make_backend("ucx", {*bootstrap})).value();
    constexpr Bytes above_int = (Bytes{1} << 31) + 4099;
    auto const one_way = [](Rank from, Rank to) { return from == 0 && to == 1 ? above_int : Bytes{0}; };
    {
        BoundPlan bound(*bootstrap, *backend, exchange_plan(*bootstrap, one_way), GetParam());
        bound.run_checked(1);
    }
    backend->quiesce();
}

TEST_P(UcxLargeBlock, AWindowOfMessagesAbove2GiBArrivesWhole) {
    auto const bootstrap = make_mpi_bootstrap();
    auto const backend = std::move(make_backend("ucx", {*bootstrap})).value();
    PlanBuilder builder(bootstrap->rank());
    GroupId const all = builder.group(world_of(*bootstrap));
    constexpr Bytes above_int = (Bytes{1} << 31) + 4099;
    if (bootstrap->rank() == 0) {
        builder.send(all, 1, above_int, 0, -1, "window", {}, {2, 0});
    } else {
        builder.recv(all, 0, above_int, 0, -1, "window", {}, {2, 0});
    }
    {
        BoundPlan bound(*bootstrap, *backend, std::move(builder).finish(), GetParam());
        bound.run_checked(1);
    }
    backend->quiesce();
}

INSTANTIATE_TEST_SUITE_P(Methods, UcxLargeBlock, testing::Values("linear", "pairwise", "put", "get"),
                         [](auto const& test) { return std::string(test.param); });

}  // namespace
}  // namespace dlmb::ucx
