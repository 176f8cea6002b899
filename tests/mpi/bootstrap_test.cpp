// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The control plane over real MPI, at 1, 2, 4 and 7 ranks.
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "tests/unit/bootstrap/promises.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

namespace dlmb {
namespace {

class MpiBootstrapTest : public testing::Test {
protected:
    std::unique_ptr<Bootstrap> bootstrap_ = make_mpi_bootstrap();
    Bootstrap& world() { return *bootstrap_; }
};

TEST_F(MpiBootstrapTest, KnowsItsPlace) {
    EXPECT_EQ(world().kind(), "mpi");
    EXPECT_GE(world().rank(), 0);
    EXPECT_LT(world().rank(), world().size());
    EXPECT_EQ(world().local_size(), world().size()) << "this test runs on one node";
    EXPECT_EQ(world().local_rank(), world().rank());
    EXPECT_EQ(world().node_leader(), 0);
    EXPECT_FALSE(world().host().empty());
    auto const facts = world().facts();
    EXPECT_TRUE(facts.at("mpi_library").starts_with("Open MPI") || facts.at("mpi_library").starts_with("MPICH"))
        << facts.at("mpi_library");
    EXPECT_EQ(facts.at("mpi_thread_level"), "funneled");
    EXPECT_EQ(facts.at("launched_ranks"), std::to_string(world().size()));
}

class MpiBootstrapKeeps : public testing::TestWithParam<Promise> {};
INSTANTIATE_TEST_SUITE_P(Mpi, MpiBootstrapKeeps, testing::ValuesIn(every_promise()),
                         [](auto const& promise) { return std::string(promise.param.name); });

TEST_P(MpiBootstrapKeeps, ThePromise) {
    GetParam().check(*make_mpi_bootstrap());
}

TEST_F(MpiBootstrapTest, BarrierHoldsEveryRankUntilTheLastCame) {
    // Every rank counts its arrivals with all; nobody may leave round i before all entered it. The clock is shared.
    for (int late = 0; late < world().size(); ++late) {
        if (world().rank() == late) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        std::array<std::int64_t, 1> entered{std::chrono::steady_clock::now().time_since_epoch().count()};
        world().barrier();
        std::array<std::int64_t, 1> left{std::chrono::steady_clock::now().time_since_epoch().count()};
        world().all_reduce(entered, Fold::max);
        world().all_reduce(left, Fold::min);
        EXPECT_GE(left[0], entered[0]) << "a rank left before rank " << late << " entered";
    }
}

TEST_F(MpiBootstrapTest, CallsProgressWhileItWaits) {
    if (world().size() == 1) {
        GTEST_SKIP() << "nobody to wait for";
    }
    std::uint64_t calls = 0;
    ProgressHandle progress = world().add_progress([&calls] { ++calls; });
    auto const late_first_rank = [&] {
        calls = 0;
        if (world().rank() == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    };
    auto const expect_calls = [&](char const* call) {
        if (world().rank() != 0) {
            EXPECT_GT(calls, 0U) << call;
        }
        progress.remove();
        world().barrier();
        progress = world().add_progress([&calls] { ++calls; });
    };
    late_first_rank();
    world().barrier();
    expect_calls("barrier");
    late_first_rank();
    (void)world().all_gather(Blob(8));
    expect_calls("all_gather");
    late_first_rank();
    (void)world().exchange({{0, Blob(8)}});
    expect_calls("exchange");
    late_first_rank();
    std::array<std::int64_t, 1> value{1};
    world().all_reduce(value, Fold::sum);
    expect_calls("all_reduce");
    late_first_rank();
    Blob blob(8);
    world().broadcast(blob, 0);
    expect_calls("broadcast");
}

}  // namespace
}  // namespace dlmb
