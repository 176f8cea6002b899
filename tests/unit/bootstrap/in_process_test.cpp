// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/bootstrap/in_process/in_process_bootstrap.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace dlmb::in_process {
namespace {

Blob blob(std::string_view text) {
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// As many ranks as tests of all calls need: one, powers of two and others.
class InProcess : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, InProcess, testing::Values(1, 2, 3, 4, 7, 9));

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

TEST_P(InProcess, ABarrierTellsTheLargestOfWhatRanksBrought) {
    run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        for (std::int64_t round = 0; round < 200; ++round) {
            std::int64_t const largest = round * 1000 - 100'000;  // below zero too
            bool const brings_it = bootstrap.rank() == round % bootstrap.size();
            EXPECT_EQ(bootstrap.barrier_max(brings_it ? largest : largest - 1 - bootstrap.rank()), largest);
        }
    });
}

TEST_P(InProcess, WordsOfEachSenderKeepTheirOrder) {
    run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        Rank const me = bootstrap.rank();
        if (me != 0) {
            bootstrap.send_word(0, me);
            bootstrap.send_word(0, -me);
            return;
        }
        for (Rank peer = bootstrap.size() - 1; peer > 0; --peer) {  // not in the order of their sending
            EXPECT_EQ(bootstrap.receive_word(peer), peer);
            EXPECT_EQ(bootstrap.receive_word(peer), -peer);
        }
    });
}

TEST(InProcessMessages, ArriveWholeAndOfTheExpectedSizeOnly) {
    Blob const sent{std::byte{7}, std::byte{0}, std::byte{255}};
    auto const send_three = [&](std::size_t expected) {
        run_ranks(2, [&](Bootstrap& bootstrap) {
            Blob received(expected);
            if (bootstrap.rank() == 0) {
                bootstrap.send(1, sent);
            } else {
                bootstrap.receive(0, received);
                EXPECT_EQ(received, sent);
            }
        });
    };
    send_three(3);
    EXPECT_THROW(send_three(2), Error);
}

TEST_P(InProcess, AllGatherReturnsRaggedBlobsByRank) {
    run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        Blob const mine(static_cast<std::size_t>(bootstrap.rank()) * 10, static_cast<std::byte>(bootstrap.rank()));
        std::vector<Blob> const all = bootstrap.all_gather(mine);
        ASSERT_EQ(all.size(), static_cast<std::size_t>(bootstrap.size()));
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            EXPECT_EQ(all[rank], Blob(rank * 10, static_cast<std::byte>(rank)));
        }
    });
}

TEST_P(InProcess, ExchangeDeliversSparseLettersSortedByPeerSelfAndEmptyOnesIncluded) {
    run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        // Even ranks write to rank 0 and to themselves, odd ranks to nobody.
        std::vector<PeerBlob> outgoing;
        if (bootstrap.rank() % 2 == 0) {
            outgoing.push_back({bootstrap.rank(), {}});
            outgoing.push_back({0, blob(fmt::format("from {}", bootstrap.rank()))});
        }
        std::vector<PeerBlob> const incoming = bootstrap.exchange(std::move(outgoing));
        std::vector<PeerBlob> expected;
        if (bootstrap.rank() % 2 == 0) {
            expected.push_back({bootstrap.rank(), {}});
        }
        for (Rank peer = 0; bootstrap.rank() == 0 && peer < bootstrap.size(); peer += 2) {
            expected.push_back({peer, blob(fmt::format("from {}", peer))});
        }
        EXPECT_TRUE(
            std::equal(incoming.begin(), incoming.end(), expected.begin(), expected.end(),
                       [](PeerBlob const& a, PeerBlob const& b) { return a.peer == b.peer && a.blob == b.blob; }));
    });
}

TEST_P(InProcess, AllReduceFoldsElementByElement) {
    run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        std::int64_t const last = bootstrap.size() - 1;
        std::int64_t const me = bootstrap.rank();
        for (auto const& [fold, first, second] :
             {std::tuple{Fold::sum, last * (last + 1) / 2, -last * (last + 1) / 2},
              std::tuple{Fold::max, last, std::int64_t{0}}, std::tuple{Fold::min, std::int64_t{0}, -last}}) {
            std::vector<std::int64_t> values{me, -me};
            bootstrap.all_reduce(values, fold);
            EXPECT_EQ(values, (std::vector<std::int64_t>{first, second}));
        }
    });
}

TEST_P(InProcess, BroadcastGivesEveryRootsContentWhateverTheSizesWere) {
    run_ranks(GetParam(), [](Bootstrap& bootstrap) {
        for (Rank root = 0; root < bootstrap.size(); ++root) {
            Blob content(static_cast<std::size_t>(bootstrap.rank()), std::byte{1});
            bootstrap.broadcast(content, root);
            EXPECT_EQ(content, Blob(static_cast<std::size_t>(root), std::byte{1}));
        }
    });
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
            bool const same = hosts[static_cast<std::size_t>(peer)] == blob(host);
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
