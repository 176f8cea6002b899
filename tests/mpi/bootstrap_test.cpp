// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The control plane over real MPI, at 1, 2, 4 and 7 ranks.
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"

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

/// `length` bytes that tell `from` and `to`.
Blob blob_text(Rank from, Rank to, std::size_t length) {
    Blob blob(length);
    for (std::size_t i = 0; i < length; ++i) {
        blob[i] = static_cast<std::byte>(static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 7 + i);
    }
    return blob;
}

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

TEST_F(MpiBootstrapTest, GathersBlobsOfDifferentLengths) {
    // Rank r sends r * 5 % 7 bytes: none from ranks 0, and from 7 on again.
    auto const length = [](Rank rank) { return static_cast<std::size_t>(rank * 5 % 7); };
    std::vector<Blob> const all = world().all_gather(blob_text(world().rank(), 0, length(world().rank())));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world().size()));
    for (Rank rank = 0; rank < world().size(); ++rank) {
        EXPECT_EQ(all[static_cast<std::size_t>(rank)], blob_text(rank, 0, length(rank)));
    }
}

TEST_F(MpiBootstrapTest, ABarrierTellsTheLargestOfWhatRanksBrought) {
    for (std::int64_t round = 0; round < 50; ++round) {
        bool const brings_it = world().rank() == round % world().size();
        EXPECT_EQ(world().barrier_max(brings_it ? round - 10 : -1000 - world().rank()), round - 10);
    }
}

TEST_F(MpiBootstrapTest, WordsOfEachSenderKeepTheirOrder) {
    Rank const me = world().rank();
    if (me != 0) {
        world().send_word(0, me);
        world().send_word(0, -me);
    }
    for (Rank peer = world().size() - 1; me == 0 && peer > 0; --peer) {  // not in the order of their sending
        EXPECT_EQ(world().receive_word(peer), peer);
        EXPECT_EQ(world().receive_word(peer), -peer);
    }
}

TEST_F(MpiBootstrapTest, MessagesOfMoreThanAWordArriveWhole) {
    Rank const next = (world().rank() + 1) % world().size();
    constexpr std::size_t large = 1 << 20;  // by rendezvous: the sender waits for the receiver
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{3}, large}) {
        if (world().rank() == 0 && next != 0) {
            world().send(next, Blob(bytes, std::byte{42}));
        } else if (world().rank() == 1) {
            Blob received(bytes);
            world().receive(0, received);
            EXPECT_EQ(received, Blob(bytes, std::byte{42}));
        }
    }
}

TEST_F(MpiBootstrapTest, GathersNothingFromAll) {
    for (Blob const& blob : world().all_gather({})) {
        EXPECT_TRUE(blob.empty());
    }
}

TEST_F(MpiBootstrapTest, DeliversLettersToSomeRanksIncludingSelfAndEmptyOnes) {
    // Rank r writes to r (3 bytes), r + 1 (empty) and r + 2 (100 KB, above every eager limit), where these differ.
    Rank const me = world().rank();
    int const ranks = world().size();
    auto const peer = [ranks](Rank from, int distance) { return (from + distance + ranks) % ranks; };
    auto const length = [](int distance) {
        return std::array<std::size_t, 3>{3, 0, 100'000}[static_cast<std::size_t>(distance)];
    };
    int const distances = std::min(3, ranks);
    std::vector<PeerBlob> outgoing;
    outgoing.reserve(static_cast<std::size_t>(distances));
    for (int distance = 0; distance < distances; ++distance) {
        outgoing.push_back({peer(me, distance), blob_text(me, peer(me, distance), length(distance))});
    }
    std::vector<PeerBlob> const incoming = world().exchange(outgoing);
    ASSERT_EQ(incoming.size(), static_cast<std::size_t>(distances));
    for (std::size_t i = 0; i < incoming.size(); ++i) {
        PeerBlob const& each = incoming[i];
        int const distance = (me - each.peer + ranks) % ranks;
        ASSERT_LT(distance, distances);
        EXPECT_EQ(each.blob, blob_text(each.peer, me, length(distance)));
        if (i > 0) {
            EXPECT_LT(incoming[i - 1].peer, each.peer) << "sorted by peer";
        }
    }
}

TEST_F(MpiBootstrapTest, DeliversSeveralLettersToOnePeerInOrder) {
    Rank const to = (world().rank() + 1) % world().size();
    Rank const from = (world().rank() + world().size() - 1) % world().size();
    std::vector<PeerBlob> const incoming =
        world().exchange({{to, blob_text(1, 1, 4)}, {to, blob_text(2, 2, 0)}, {to, blob_text(3, 3, 9)}});
    ASSERT_EQ(incoming.size(), 3U);
    EXPECT_EQ(incoming[0].peer, from);
    EXPECT_EQ(incoming[0].blob, blob_text(1, 1, 4));
    EXPECT_TRUE(incoming[1].blob.empty());
    EXPECT_EQ(incoming[2].blob, blob_text(3, 3, 9));
}

TEST_F(MpiBootstrapTest, ExchangesNothing) {
    EXPECT_TRUE(world().exchange({}).empty());
}

TEST_F(MpiBootstrapTest, RefusesALetterToNobody) {
    EXPECT_THROW((void)world().exchange({{world().size(), {}}}), Error);
}

TEST_F(MpiBootstrapTest, ReducesElementWise) {
    std::int64_t const me = world().rank();
    std::int64_t const last = world().size() - 1;
    std::array<std::int64_t, 2> sum{me, std::int64_t{1} << 40};
    std::array<std::int64_t, 2> max{me, -me};
    std::array<std::int64_t, 2> min{me, -me};
    world().all_reduce(sum, Fold::sum);
    world().all_reduce(max, Fold::max);
    world().all_reduce(min, Fold::min);
    EXPECT_EQ(sum, (std::array<std::int64_t, 2>{last * (last + 1) / 2, (last + 1) << 40}));
    EXPECT_EQ(max, (std::array<std::int64_t, 2>{last, 0}));
    EXPECT_EQ(min, (std::array<std::int64_t, 2>{0, -last}));
}

TEST_F(MpiBootstrapTest, BroadcastsFromEveryRootWhateverTheSizesWere) {
    for (Rank root = 0; root < world().size(); ++root) {
        Blob const expected = blob_text(root, root, static_cast<std::size_t>(root) * 1000);
        Blob blob = world().rank() == root ? expected : Blob(17);
        world().broadcast(blob, root);
        EXPECT_EQ(blob, expected);
    }
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
