// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/ucx_rig.hpp"

namespace dlmb::ucx {
namespace {

std::unique_ptr<Backend> make_ucx(Bootstrap& bootstrap) {
    return std::move(make_backend("ucx", {bootstrap})).value();
}

TEST(UcxOverMpi, RaggedBlocksArriveWholeWithEveryMethod) {
    auto const bootstrap = make_mpi_bootstrap();
    auto const backend = make_ucx(*bootstrap);
    // 0 B to 1.2 MiB: every protocol of UCX, zero blocks among them.
    auto const sizes = [](Rank from, Rank to) { return static_cast<Bytes>((from * 5 + to * 3) % 7) * 200'003; };
    for (char const* const method :
         {"linear", "pairwise", "linear:max_outstanding=1", "pairwise:max_outstanding=1", "pairwise:max_outstanding=2",
          "linear:rndv_thresh=1", "pairwise:rndv_thresh=inf", "default"}) {
        BoundPlan bound(*bootstrap, *backend, exchange_plan(*bootstrap, sizes), method);
        for (std::uint32_t iteration = 0; iteration < 5; ++iteration) {
            bound.run_checked(iteration);
        }
    }
    backend->quiesce();
}

TEST(UcxOverMpi, IterationsBackToBackDeliverTheLastOnesPayload) {
    auto const bootstrap = make_mpi_bootstrap();
    auto const backend = make_ucx(*bootstrap);
    BoundPlan bound(*bootstrap, *backend, exchange_plan(*bootstrap, [](Rank, Rank) { return Bytes{1000}; }));
    bound.prepare(7);
    bootstrap->barrier();
    for (int iteration = 0; iteration < 200; ++iteration) {
        bound.run();  // ranks drift apart by an iteration: eager messages wait unexpected
    }
    bound.verify(7);
    backend->quiesce();
}

TEST(UcxOverMpi, TheBackendCanBeMadeAgainInOneLaunch) {
    auto const bootstrap = make_mpi_bootstrap();
    for (std::uint32_t round = 0; round < 3; ++round) {
        auto const backend = make_ucx(*bootstrap);
        BoundPlan bound(*bootstrap, *backend, exchange_plan(*bootstrap, [](Rank, Rank) { return Bytes{70'000}; }));
        bound.run_checked(round);
    }
}

}  // namespace
}  // namespace dlmb::ucx
