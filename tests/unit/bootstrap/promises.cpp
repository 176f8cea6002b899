// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/bootstrap/promises.hpp"

#include "common/base/error.hpp"

#include <array>

namespace dlmb {
namespace {

/// `length` bytes that tell `from` and `to`.
Blob blob_text(Rank from, Rank to, std::size_t length) {
    Blob blob(length);
    for (std::size_t i = 0; i < length; ++i) {
        blob[i] = static_cast<std::byte>(static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 7 + i);
    }
    return blob;
}

/// Rank r has r * 5 % 7 bytes: none on rank 0, and on 7 again.
void gathers_blobs_of_different_lengths(Bootstrap& world) {
    auto const length = [](Rank rank) { return static_cast<std::size_t>(rank * 5 % 7); };
    std::vector<Blob> const all = world.all_gather(blob_text(world.rank(), 0, length(world.rank())));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
    for (Rank rank = 0; rank < world.size(); ++rank) {
        EXPECT_EQ(all[static_cast<std::size_t>(rank)], blob_text(rank, 0, length(rank)));
    }
    for (Blob const& blob : world.all_gather({})) {
        EXPECT_TRUE(blob.empty());
    }
}

void a_barrier_tells_the_largest_of_what_ranks_brought(Bootstrap& world) {
    for (std::int64_t round = 0; round < 200; ++round) {
        std::int64_t const largest = round * 1000 - 100'000;  // below zero too
        bool const brings_it = world.rank() == round % world.size();
        EXPECT_EQ(world.barrier_max(brings_it ? largest : largest - 1 - world.rank()), largest);
    }
}

void words_of_each_sender_keep_their_order(Bootstrap& world) {
    Rank const me = world.rank();
    if (me != 0) {
        world.send_word(0, me);
        world.send_word(0, -me);
    }
    for (Rank peer = world.size() - 1; me == 0 && peer > 0; --peer) {  // not in the order of their sending
        EXPECT_EQ(world.receive_word(peer), peer);
        EXPECT_EQ(world.receive_word(peer), -peer);
    }
}

void messages_of_more_than_a_word_arrive_whole(Bootstrap& world) {
    constexpr std::size_t large = 1 << 20;  // by rendezvous: the sender waits for the receiver
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{3}, large}) {
        if (world.rank() == 0 && world.size() > 1) {
            world.send(1, blob_text(0, 1, bytes));
        } else if (world.rank() == 1) {
            Blob received(bytes);
            world.receive(0, received);
            EXPECT_EQ(received, blob_text(0, 1, bytes));
        }
    }
}

/// Rank r writes to r (3 bytes), r + 1 (empty) and r + 2 (100 KB, above every eager limit), where these differ.
void delivers_letters_to_some_ranks_sorted_by_peer(Bootstrap& world) {
    Rank const me = world.rank();
    int const ranks = world.size();
    constexpr std::array<std::size_t, 3> lengths{3, 0, 100'000};
    int const distances = std::min(3, ranks);
    std::vector<PeerBlob> outgoing;
    for (int distance = 0; distance < distances; ++distance) {
        Rank const to = (me + distance) % ranks;
        outgoing.push_back({to, blob_text(me, to, lengths.at(static_cast<std::size_t>(distance)))});
    }
    std::vector<PeerBlob> const incoming = world.exchange(outgoing);
    ASSERT_EQ(incoming.size(), static_cast<std::size_t>(distances));
    for (std::size_t i = 0; i < incoming.size(); ++i) {
        PeerBlob const& each = incoming[i];
        int const distance = (me - each.peer + ranks) % ranks;
        ASSERT_LT(distance, distances);
        EXPECT_EQ(each.blob, blob_text(each.peer, me, lengths.at(static_cast<std::size_t>(distance))));
        EXPECT_TRUE(i == 0 || incoming[i - 1].peer < each.peer);
    }
    EXPECT_TRUE(world.exchange({}).empty());
    EXPECT_THROW((void)world.exchange({{ranks, {}}}), Error) << "a letter to nobody";
}

void delivers_several_letters_to_one_peer_in_order(Bootstrap& world) {
    Rank const to = (world.rank() + 1) % world.size();
    Rank const from = (world.rank() + world.size() - 1) % world.size();
    std::vector<PeerBlob> const incoming =
        world.exchange({{to, blob_text(1, 1, 4)}, {to, blob_text(2, 2, 0)}, {to, blob_text(3, 3, 9)}});
    ASSERT_EQ(incoming.size(), 3U);
    EXPECT_EQ(incoming[0].peer, from);
    EXPECT_EQ(incoming[0].blob, blob_text(1, 1, 4));
    EXPECT_TRUE(incoming[1].blob.empty());
    EXPECT_EQ(incoming[2].blob, blob_text(3, 3, 9));
}

void reduces_element_by_element(Bootstrap& world) {
    using Values = std::array<std::int64_t, 3>;
    std::int64_t const me = world.rank();
    std::int64_t const last = world.size() - 1;
    constexpr std::int64_t large = std::int64_t{1} << 40;
    for (auto const& [fold, expected] :
         {std::pair{Fold::sum, Values{last * (last + 1) / 2, -last * (last + 1) / 2, (last + 1) * large}},
          std::pair{Fold::max, Values{last, 0, large}}, std::pair{Fold::min, Values{0, -last, large}}}) {
        Values values{me, -me, large};
        world.all_reduce(values, fold);
        EXPECT_EQ(values, expected);
    }
}

void broadcasts_from_every_root_whatever_the_sizes_were(Bootstrap& world) {
    for (Rank root = 0; root < world.size(); ++root) {
        Blob const expected = blob_text(root, root, static_cast<std::size_t>(root) * 1000);
        Blob blob = world.rank() == root ? expected : Blob(17);
        world.broadcast(blob, root);
        EXPECT_EQ(blob, expected);
    }
}

constexpr Promise promises[] = {
    {"GathersBlobsOfDifferentLengths", gathers_blobs_of_different_lengths},
    {"ABarrierTellsTheLargestOfWhatRanksBrought", a_barrier_tells_the_largest_of_what_ranks_brought},
    {"WordsOfEachSenderKeepTheirOrder", words_of_each_sender_keep_their_order},
    {"MessagesOfMoreThanAWordArriveWhole", messages_of_more_than_a_word_arrive_whole},
    {"DeliversLettersToSomeRanksSortedByPeer", delivers_letters_to_some_ranks_sorted_by_peer},
    {"DeliversSeveralLettersToOnePeerInOrder", delivers_several_letters_to_one_peer_in_order},
    {"ReducesElementByElement", reduces_element_by_element},
    {"BroadcastsFromEveryRootWhateverTheSizesWere", broadcasts_from_every_root_whatever_the_sizes_were},
};

}  // namespace

std::span<Promise const> every_promise() {
    return promises;
}

}  // namespace dlmb
