// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How steps are cut into the native calls of a staged step.
#include "common/backends/mpi/chunks.hpp"

#include <gtest/gtest.h>

namespace dlmb::mpi {
namespace {

using Ranges = std::vector<BufferRange>;

constexpr Bytes chunk = 1000;

/// Three ranks, this one is 1. To each other rank and from it: more than a chunk, less, and nothing.
Exchange ragged() {
    return {0, 0, 1, {{0, 0, 2500}, {1, 2560, 5000}, {2, 7616, 10}}, {{0, 64, 999}, {1, 1088, 5000}}};
}

TEST(MpiChunks, AnExchangeNeedsTheRoundsOfItsLargestBlock) {
    EXPECT_EQ(rounds_of(ragged(), chunk, 1), 3U) << "2500 bytes; the self block of 5000 does not count";
    EXPECT_EQ(rounds_of(ragged(), 2500, 1), 1U);
    EXPECT_EQ(rounds_of(ragged(), 2499, 1), 2U);
    EXPECT_EQ(rounds_of({0, 0, 1, {}, {{2, 0, 1001}}}, chunk, 1), 2U) << "what is received counts as well";
    EXPECT_EQ(rounds_of({0, 0, 1, {}, {}}, chunk, 1), 1U) << "an exchange without a block is issued, too";
}

TEST(MpiChunks, ARoundMovesTheNextChunkOfEveryBlockButTheSelfBlock) {
    std::vector<Chunk> const rounds = chunks_of(ragged(), {chunk, 4, 1, 3});
    ASSERT_EQ(rounds.size(), 4U) << "as many as the group agreed on, though this rank needs three";
    EXPECT_EQ(std::get<Exchange>(rounds[0].call), (Exchange{0, 0, 1, {{0, 0, 1000}, {2, 7616, 10}}, {{0, 64, 999}}}));
    EXPECT_EQ(std::get<Exchange>(rounds[2].call), (Exchange{0, 0, 1, {{0, 2000, 500}}, {}}));
    EXPECT_EQ(std::get<Exchange>(rounds[3].call), (Exchange{0, 0, 1, {}, {}}));
    EXPECT_EQ(rounds[0].reads, (Ranges{{0, 0, 1000}, {0, 7616, 10}}));
    EXPECT_EQ(rounds[0].writes, (Ranges{{1, 64, 999}}));
    EXPECT_EQ(rounds[2].reads, (Ranges{{0, 2000, 500}}));
}

TEST(MpiChunks, BlocksThatTouchAreOneRange) {
    Chunk const all = whole({0, 0, 1, {{0, 64, 100}, {1, 164, 100}, {2, 300, 1}}, {{0, 0, 7}}});
    EXPECT_EQ(all.reads, (Ranges{{0, 64, 200}, {0, 300, 1}}));
    EXPECT_EQ(all.writes, (Ranges{{1, 0, 7}}));
}

TEST(MpiChunks, BothEndsOfAMessageCutItAlike) {
    for (Bytes const bytes : {Bytes{0}, Bytes{1}, chunk, chunk + 1, 3 * chunk}) {
        std::vector<Chunk> const sent = chunks_of(Send{0, 0, {1, 64, bytes}, 5, -1}, {chunk, 1, 0, 2});
        std::vector<Chunk> const received = chunks_of(Recv{0, 0, {0, 0, bytes}, 5, -1}, {chunk, 1, 1, 2});
        ASSERT_EQ(sent.size(), received.size());
        EXPECT_EQ(sent.size(), bytes == 0 ? 1 : (bytes + chunk - 1) / chunk) << "an empty message is sent, too";
        Bytes next = 0;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            Block const& to = std::get<Send>(sent[i].call).to;
            Block const& from = std::get<Recv>(received[i].call).from;
            EXPECT_EQ(to, (Block{1, 64 + next, from.bytes}));
            EXPECT_EQ(from.offset, next);
            EXPECT_EQ(std::get<Send>(sent[i].call).channel, 5);
            EXPECT_TRUE(sent[i].writes.empty() && received[i].reads.empty());
            next += to.bytes;
        }
        EXPECT_EQ(next, bytes);
    }
}

TEST(MpiChunks, AWindowIsItsMessagesOneByOne) {
    MessageWindow const window{3, 2 * chunk};
    std::vector<Chunk> const sent = chunks_of(Send{0, 0, {1, 64, chunk + 1}, 5, -1, window}, {chunk, 1, 0, 2});
    std::vector<Chunk> const received = chunks_of(Recv{0, 0, {0, 0, chunk + 1}, 5, -1, window}, {chunk, 1, 1, 2});
    ASSERT_EQ(sent.size(), 6U);
    ASSERT_EQ(received.size(), 6U);
    EXPECT_EQ(sent[3].call, (Operation{Send{0, 0, {1, 64 + 3 * chunk, 1}, 5, -1}}));
    EXPECT_EQ(received[4].call, (Operation{Recv{0, 0, {0, 4 * chunk, chunk}, 5, -1}}));
    EXPECT_EQ(received[4].writes, (Ranges{{0, 4 * chunk, chunk}}));
}

TEST(MpiChunks, ReductionsAreCutBetweenElements) {
    Collective const step{OperationKind::all_reduce, 0, 0, {0, 64}, {1, 0}, 2400, Element::fp64, Reduction::max};
    std::vector<Chunk> const chunks = chunks_of(step, {1001, 1, 0, 4});
    ASSERT_EQ(chunks.size(), 3U);
    EXPECT_EQ(chunks[1].call,
              (Operation{Collective{
                  OperationKind::all_reduce, 0, 0, {0, 1064}, {1, 1000}, 1000, Element::fp64, Reduction::max}}));
    EXPECT_EQ(chunks[2].reads, (Ranges{{0, 2064, 400}}));
    EXPECT_EQ(chunks[2].writes, (Ranges{{1, 2000, 400}}));
}

TEST(MpiChunks, OnlyTheRootOfABroadcastReadsAndOnlyTheOthersAreWritten) {
    Collective const step{OperationKind::broadcast, 0, 2, {0, 8}, {0, 8}, 1500, Element::byte};
    std::vector<Chunk> const root = chunks_of(step, {chunk, 1, 2, 3});
    std::vector<Chunk> const other = chunks_of(step, {chunk, 1, 0, 3});
    EXPECT_EQ(root[1].reads, (Ranges{{0, 1008, 500}}));
    EXPECT_EQ(root[1].writes, Ranges{});
    EXPECT_EQ(other[1].reads, Ranges{});
    EXPECT_EQ(other[1].writes, (Ranges{{0, 1008, 500}}));
}

TEST(MpiChunks, GathersAndScattersAreOneCallWithTheirShareOnOneSide) {
    std::vector<Chunk> const gather =
        chunks_of(Collective{OperationKind::all_gather, 0, 0, {0, 0}, {1, 0}, 4000, Element::byte}, {chunk, 1, 1, 4});
    ASSERT_EQ(gather.size(), 1U);
    EXPECT_EQ(gather[0].reads, (Ranges{{0, 0, 1000}}));
    EXPECT_EQ(gather[0].writes, (Ranges{{1, 0, 4000}}));
    std::vector<Chunk> const scatter = chunks_of(
        Collective{OperationKind::reduce_scatter, 0, 0, {0, 0}, {1, 0}, 4000, Element::fp32}, {chunk, 1, 1, 4});
    ASSERT_EQ(scatter.size(), 1U);
    EXPECT_EQ(scatter[0].reads, (Ranges{{0, 0, 4000}}));
    EXPECT_EQ(scatter[0].writes, (Ranges{{1, 0, 1000}}));
}

TEST(MpiChunks, OnlyTheRootHasAResultOrAnInput) {
    Collective const reduce{OperationKind::reduce, 0, 2, {0, 0}, {1, 64}, 1500, Element::byte};
    EXPECT_EQ(chunks_of(reduce, {chunk, 1, 2, 3})[1].writes, (Ranges{{1, 1064, 500}}));
    EXPECT_EQ(chunks_of(reduce, {chunk, 1, 0, 3})[1].writes, Ranges{});
    EXPECT_EQ(chunks_of(reduce, {chunk, 1, 0, 3})[1].reads, (Ranges{{0, 1000, 500}}));
    Collective const gather{OperationKind::gather, 0, 1, {0, 0}, {1, 0}, 6000, Element::byte, {}, {1000, 2000, 3000}};
    EXPECT_EQ(chunks_of(gather, {chunk, 1, 2, 3})[0].reads, (Ranges{{0, 0, 3000}}));
    EXPECT_EQ(chunks_of(gather, {chunk, 1, 2, 3})[0].writes, Ranges{});
    EXPECT_EQ(chunks_of(gather, {chunk, 1, 1, 3})[0].writes, (Ranges{{1, 0, 6000}}));
    Collective const scatter{OperationKind::scatter, 0, 1, {0, 0}, {1, 0}, 6000, Element::byte};
    EXPECT_EQ(chunks_of(scatter, {chunk, 1, 1, 3})[0].reads, (Ranges{{0, 0, 6000}}));
    EXPECT_EQ(chunks_of(scatter, {chunk, 1, 0, 3})[0].writes, (Ranges{{1, 0, 2000}}));
}

}  // namespace
}  // namespace dlmb::mpi
