// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms send, and in how many rounds, against closed forms.
#include "tests/unit/algorithms/simulation.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace dlmb::algorithms::bytes_test {
namespace {

/// `bytes` of byte elements, the parts of which are equal.
Outcome run(Algorithm algorithm, OperationKind kind, int places, Bytes bytes, Knobs const& knobs = {}) {
    Shape shape;
    shape.kind = kind;
    shape.places = places;
    shape.bytes = bytes;
    shape.in_place = kind == OperationKind::broadcast;
    std::vector<std::vector<std::byte>> inputs;
    for (shape.place = 0; shape.place < places; ++shape.place) {
        inputs.emplace_back(input_bytes(shape));
    }
    Outcome outcome = simulate(algorithm, shape, knobs, Reduction::sum, inputs, Protocol::rendezvous, 1);
    EXPECT_EQ(outcome.problem, "");
    return outcome;
}

std::vector<Bytes> all(int places, Bytes bytes) {
    return std::vector<Bytes>(static_cast<std::size_t>(places), bytes);
}

constexpr Bytes part = 24;

/// A part for each place.
Outcome run_parts(Algorithm algorithm, OperationKind kind, int places, Knobs const& knobs = {}) {
    return run(algorithm, kind, places, static_cast<Bytes>(places) * part, knobs);
}
Bytes other_parts(int places) {
    return static_cast<Bytes>(places - 1) * part;
}

TEST(SentBytes, OfARingAreTwiceAllOtherPartsInAsManyRounds) {
    for (int places = 1; places <= 17; ++places) {
        Outcome const reduced = run_parts(ring, OperationKind::all_reduce, places);
        EXPECT_EQ(reduced.sent, all(places, 2 * other_parts(places)));
        EXPECT_EQ(reduced.rounds, 2 * (places - 1));
        EXPECT_EQ(run_parts(ring, OperationKind::reduce_scatter, places).sent, all(places, other_parts(places)));
        EXPECT_EQ(run_parts(ring, OperationKind::all_gather, places).sent, all(places, other_parts(places)));
    }
}

TEST(SentBytes, OfKnomialAreAllOtherPartsToReduceAndOnAverageAsManyToGather) {
    for (int places = 1; places <= 17; ++places) {
        for (int const radix : {2, 3, 4, 16}) {
            Bytes const others = other_parts(places);
            EXPECT_EQ(run_parts(knomial, OperationKind::reduce_scatter, places, {radix, 0}).sent, all(places, others));
            std::vector<Bytes> const sent = run_parts(knomial, OperationKind::all_gather, places, {radix, 0}).sent;
            EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), Bytes{0}), static_cast<Bytes>(places) * others);
        }
    }
    EXPECT_EQ(run_parts(knomial, OperationKind::all_reduce, 16, {4, 0}).sent, all(16, 2 * other_parts(16)));
    EXPECT_EQ(run_parts(knomial, OperationKind::all_reduce, 16, {4, 0}).rounds, 4) << "2 log4 16";
    EXPECT_EQ(run_parts(knomial, OperationKind::all_reduce, 13, {2, 0}).rounds, 8) << "2 ceil(log2 13)";
}

TEST(SentBytes, OfRecursiveDoublingAreTheWholeInEveryRound) {
    EXPECT_EQ(run(recursive_doubling, OperationKind::all_reduce, 16, part).sent, all(16, 4 * part));
    // 6 places: 0 and 1, 2 and 3 are pairs; 0, 2, 4, 5 double twice; the pairs' first send the result on.
    Outcome const folded = run(recursive_doubling, OperationKind::all_reduce, 6, part);
    EXPECT_EQ(folded.sent, (std::vector<Bytes>{3 * part, part, 3 * part, part, 2 * part, 2 * part}));
    EXPECT_EQ(folded.rounds, 3) << "1 to 0, 0 to 2, 2 to 5; meanwhile 4's half reaches 0, and 0's result 1";
}

TEST(SentBytes, OfGatheringAreAllOtherParts) {
    for (int places = 1; places <= 17; ++places) {
        EXPECT_EQ(run_parts(bruck_all_gather, OperationKind::all_gather, places).sent,
                  all(places, other_parts(places)));
        Outcome const swapped = run_parts(neighbor, OperationKind::all_gather, places);
        EXPECT_EQ(swapped.sent, all(places, other_parts(places)));
        EXPECT_EQ(swapped.rounds, places % 2 == 0 ? places / 2 : places - 1);
    }
}

TEST(SentBytes, OfABruckExchangeAreTheBlocksWhoseDistanceHasTheRoundsBit) {
    for (int places = 1; places <= 17; ++places) {
        Bytes blocks = 0;
        for (int distance = 0; distance < places; ++distance) {
            blocks += static_cast<Bytes>(__builtin_popcount(static_cast<unsigned>(distance)));
        }
        EXPECT_EQ(run_parts(bruck_exchange, OperationKind::exchange, places).sent, all(places, blocks * part));
    }
    EXPECT_EQ(run_parts(bruck_exchange, OperationKind::exchange, 16).rounds, 4);
    EXPECT_EQ(run_parts(bruck_all_gather, OperationKind::all_gather, 16).rounds, 4);
}

TEST(SentBytes, OfABroadcastReachEveryOtherPlaceOnce) {
    for (int places = 1; places <= 17; ++places) {
        for (Algorithm const algorithm : {knomial_tree, chain, scatter_allgather}) {
            std::vector<Bytes> const sent = run(algorithm, OperationKind::broadcast, places, 100, {3, 16}).sent;
            EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), Bytes{0}), static_cast<Bytes>(places - 1) * 100);
        }
    }
    // Radix 4, 16 places: the root sends to 4, 8, 12, 1, 2 and 3.
    EXPECT_EQ(run(knomial_tree, OperationKind::broadcast, 16, 100, {4, 0}).sent[0], 600U);
    EXPECT_EQ(run(knomial_tree, OperationKind::broadcast, 16, 100, {4, 0}).rounds, 2);
    EXPECT_EQ(run(chain, OperationKind::broadcast, 16, 100, {0, 16}).rounds, 15);
    // 5 places: four parts of 25; each of the others passes its own on to three.
    EXPECT_EQ(run(scatter_allgather, OperationKind::broadcast, 5, 100).sent, (std::vector<Bytes>{100, 75, 75, 75, 75}));
    EXPECT_EQ(run(scatter_allgather, OperationKind::broadcast, 16, 100).rounds, 2);
}

TEST(SentBytes, OfAReductionLeaveEveryOtherPlaceOnce) {
    for (int places = 1; places <= 17; ++places) {
        for (Algorithm const algorithm : {knomial_tree, chain}) {
            std::vector<Bytes> const sent = run(algorithm, OperationKind::reduce, places, 100, {3, 16}).sent;
            EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), Bytes{0}), static_cast<Bytes>(places - 1) * 100);
            EXPECT_EQ(sent[0], 0U) << "the root";
        }
    }
    EXPECT_EQ(run(knomial_tree, OperationKind::reduce, 16, 100, {4, 0}).rounds, 2);
}

TEST(SentBytes, OfATreeArePartsOfItsSubtrees) {
    // Radix 2, 8 places: places 4, 2, 1 have 3, 1, 0 others below them; place 4 moves 4 parts, 2 and 6 two, others one.
    EXPECT_EQ(run_parts(knomial_tree, OperationKind::gather, 8, {2, 0}).sent,
              (std::vector<Bytes>{0, part, 2 * part, part, 4 * part, part, 2 * part, part}));
    EXPECT_EQ(run_parts(knomial_tree, OperationKind::scatter, 8, {2, 0}).sent,
              (std::vector<Bytes>{7 * part, 0, part, 0, 3 * part, 0, part, 0}));
    EXPECT_EQ(run_parts(knomial_tree, OperationKind::gather, 8, {2, 0}).rounds, 3);
    EXPECT_EQ(run_parts(direct_parts, OperationKind::gather, 5).sent, (std::vector<Bytes>{0, part, part, part, part}));
    EXPECT_EQ(run_parts(direct_parts, OperationKind::scatter, 5).rounds, 1);
}

Shape shape_of(OperationKind kind, int places, Bytes bytes) {
    Shape shape;
    shape.kind = kind;
    shape.places = places;
    shape.bytes = bytes;
    return shape;
}

TEST(Choice, ChangesWithTheSizeAsTheReadmeSays) {
    EXPECT_EQ(choose(shape_of(OperationKind::all_reduce, 8, 4095)), recursive_doubling);
    EXPECT_EQ(choose(shape_of(OperationKind::all_reduce, 8, 4096)), knomial);
    EXPECT_EQ(choose(shape_of(OperationKind::reduce_scatter, 8, 4095)), knomial);
    EXPECT_EQ(choose(shape_of(OperationKind::reduce_scatter, 8, 4096)), ring);
    EXPECT_EQ(choose(shape_of(OperationKind::all_gather, 8, (Bytes{80} << 10) - 8)), knomial);
    EXPECT_EQ(choose(shape_of(OperationKind::all_gather, 8, Bytes{80} << 10)), ring);
    EXPECT_EQ(choose(shape_of(OperationKind::gather, 8, (Bytes{80} << 10) - 8)), knomial_tree);
    EXPECT_EQ(choose(shape_of(OperationKind::scatter, 8, Bytes{80} << 10)), direct_parts);
    EXPECT_EQ(choose(shape_of(OperationKind::reduce, 8, 32767)), knomial_tree);
    EXPECT_EQ(choose(shape_of(OperationKind::reduce, 8, Bytes{1} << 20)), chain);
    EXPECT_EQ(choose(shape_of(OperationKind::barrier, 8, 0)), dissemination);
    EXPECT_EQ(choose(shape_of(OperationKind::broadcast, 8, 32767)), knomial_tree);
    EXPECT_EQ(choose(shape_of(OperationKind::broadcast, 8, Bytes{1} << 20)), chain);
    EXPECT_EQ(choose(shape_of(OperationKind::broadcast, 1024, Bytes{1} << 20)), knomial_tree)
        << "4 + 1022 turns along the chain, 5 rounds * 3 sends * 4 segments in the tree";
    EXPECT_EQ(choose(shape_of(OperationKind::broadcast, 1024, Bytes{1} << 27)), chain);
}

TEST(Choice, ByMessagesBetweenTwoPlacesIsOneMessageOfABroadcast) {
    for (Bytes const bytes : {Bytes{48}, Bytes{1} << 20, Bytes{1} << 27}) {
        EXPECT_EQ(choose(shape_of(OperationKind::broadcast, 2, bytes)), knomial_tree) << bytes;
    }
}

}  // namespace
}  // namespace dlmb::algorithms::bytes_test
