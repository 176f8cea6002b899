// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "tests/unit/bootstrap/promises.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace dlmb::in_process {
namespace {

/// As many ranks as tests of all calls need: one, powers of two and others.
class InProcess : public testing::TestWithParam<int> {};
auto const rank_counts = testing::Values(1, 2, 3, 4, 7, 9);
INSTANTIATE_TEST_SUITE_P(Ranks, InProcess, rank_counts);

class InProcessKeeps : public testing::TestWithParam<std::tuple<int, Promise>> {};
INSTANTIATE_TEST_SUITE_P(Ranks, InProcessKeeps, testing::Combine(rank_counts, testing::ValuesIn(every_promise())));

TEST_P(InProcessKeeps, ThePromise) {
    auto const& [ranks, promise] = GetParam();
    run_ranks(ranks, promise.check);
}

TEST_P(InProcess, EveryRankRunsOnceAndKnowsItself) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(GetParam()));
    run_ranks(GetParam(), [&](Bootstrap& bootstrap) {
        EXPECT_EQ(bootstrap.kind(), "in_process");
        EXPECT_EQ(bootstrap.size(), GetParam());
        EXPECT_EQ(bootstrap.local_rank(), bootstrap.rank());
        EXPECT_EQ(bootstrap.local_size(), GetParam());
        ++seen.at(static_cast<std::size_t>(bootstrap.rank()));
    });
    for (auto const& count : seen) {
        EXPECT_EQ(count, 1);
    }
}

TEST_P(InProcess, NobodyLeavesABarrierBeforeAllHaveEntered) {
    std::atomic<int> entered{0};
    run_ranks(GetParam(), [&](Bootstrap& bootstrap) {
        for (int round = 1; round <= 200; ++round) {
            ++entered;
            bootstrap.barrier();
            EXPECT_GE(entered, round * GetParam());
            bootstrap.barrier();
        }
    });
}

TEST(InProcessMessages, AreOfTheExpectedSizeOnly) {
    EXPECT_THROW(run_ranks(2,
                           [](Bootstrap& bootstrap) {
                               Blob message(bootstrap.rank() == 0 ? 3 : 2);
                               bootstrap.rank() == 0 ? bootstrap.send(1, message) : bootstrap.receive(0, message);
                           }),
                 Error);
}

TEST_P(InProcess, ShareGivesRank0sObjectToAllAndKeepsNone) {
    std::weak_ptr<int> after;
    run_ranks(GetParam(), [&](Bootstrap& bootstrap) {
        auto& in_process = dynamic_cast<InProcessBootstrap&>(bootstrap);
        auto const shared =
            std::static_pointer_cast<int>(in_process.share(std::make_shared<int>(bootstrap.rank() + 40)));
        EXPECT_EQ(*shared, 40);
        if (bootstrap.rank() == 0) {
            after = shared;
        }
    });
    EXPECT_TRUE(after.expired());
}

TEST(InProcessNodes, RanksSitInBlocksOnNodesAndTheLastMayBeSmaller) {
    run_ranks(5, 2, [](Bootstrap& bootstrap) {
        EXPECT_EQ(bootstrap.node_leader(), bootstrap.rank() / 2 * 2);
        EXPECT_EQ(bootstrap.local_rank(), bootstrap.rank() % 2);
        EXPECT_EQ(bootstrap.local_size(), bootstrap.rank() == 4 ? 1 : 2);
        std::string_view const host = bootstrap.host();
        std::vector<Blob> const hosts = bootstrap.all_gather(std::as_bytes(std::span(host)));
        for (Rank peer = 0; peer < 5; ++peer) {
            bool const same =
                hosts.at(static_cast<std::size_t>(peer)) == hosts.at(static_cast<std::size_t>(bootstrap.rank()));
            EXPECT_EQ(same, peer / 2 == bootstrap.rank() / 2) << bootstrap.rank() << " and " << peer;
        }
    });
}

TEST(InProcessProgress, IsMadeWhileABarrierWaits) {
    std::atomic<int> calls{0};
    run_ranks(2, [&](Bootstrap& bootstrap) {
        ProgressHandle progress;
        if (bootstrap.rank() == 0) {
            progress = bootstrap.add_progress([&calls] { ++calls; });
        } else {
            while (calls < 3) {  // rank 0 can only get out of its barrier when rank 1 has seen it make progress
                sched_yield();
            }
        }
        bootstrap.barrier();
    });
    EXPECT_GE(calls, 3);
}

/// Rank 0 registers three functions and removes those that `gone` names, in its order: which are called while it waits?
std::array<bool, 3> called_after_removing(std::vector<std::size_t> const& gone) {
    std::array<std::atomic<int>, 3> calls{};
    std::atomic<int> rounds{0};
    run_ranks(2, [&](Bootstrap& bootstrap) {
        std::array<ProgressHandle, 3> handles;
        ProgressHandle last;
        if (bootstrap.rank() == 0) {
            for (std::size_t i = 0; i < handles.size(); ++i) {
                handles.at(i) = bootstrap.add_progress([&calls, i] { ++calls.at(i); });
            }
            for (std::size_t const each : gone) {
                handles.at(each).remove();
            }
            last = bootstrap.add_progress([&rounds] { ++rounds; });
        } else {
            while (rounds < 3) {  // rank 0 has waited for rank 1, then
                sched_yield();
            }
        }
        bootstrap.barrier();
    });
    return {calls[0] > 0, calls[1] > 0, calls[2] > 0};
}

TEST(InProcessProgress, IsMadeByAllWhoRegisteredAndByThoseLeftAfterRemovalInAnyOrder) {
    using Called = std::array<bool, 3>;
    EXPECT_EQ(called_after_removing({}), (Called{true, true, true}));
    EXPECT_EQ(called_after_removing({0}), (Called{false, true, true}));
    EXPECT_EQ(called_after_removing({1}), (Called{true, false, true}));
    EXPECT_EQ(called_after_removing({2}), (Called{true, true, false}));
    EXPECT_EQ(called_after_removing({0, 1}), (Called{false, false, true}));
    EXPECT_EQ(called_after_removing({2, 0}), (Called{false, true, false}));
    EXPECT_EQ(called_after_removing({1, 2, 0}), (Called{false, false, false}));
}

TEST(InProcessProgress, HandlesMayMoveAndOutliveTheBootstrap) {
    ProgressHandle survivor;
    int calls = 0;
    run_ranks(1, [&](Bootstrap& bootstrap) {
        ProgressHandle first = bootstrap.add_progress([&calls] { ++calls; });
        survivor = bootstrap.add_progress([] {});
        ProgressHandle const second = std::move(first);
        survivor = bootstrap.add_progress([] {});  // replaces the one that it held
    });
    survivor.remove();
    survivor.remove();  // nothing is left to remove
    EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace dlmb::in_process
