// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm on 1 to 17 places: results, delivery and dependencies, under both protocols and random interleaving.
#include "tests/unit/algorithms/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace dlmb::algorithms::results_test {
namespace {

struct Case {
    std::string name;
    Algorithm algorithm;
    OperationKind kind;
    Knobs knobs = {};
};

void PrintTo(Case const& each, std::ostream* out) {  // NOLINT(readability-identifier-naming): found by that name
    *out << each.name;
}

constexpr Bytes word = sizeof(std::int64_t);

/// Word `i` of place `place`; for an exchange and a gather what travels, for a reduction an operand.
std::int64_t value(int place, Bytes i) {
    return static_cast<std::int64_t>(static_cast<Bytes>(place + 1) * 1'000'003 + i * 7919);
}

std::vector<std::vector<std::byte>> inputs_of(Shape shape) {
    std::vector<std::vector<std::byte>> inputs;
    for (int place = 0; place < shape.places; ++place) {
        shape.place = place;
        std::vector<std::byte>& input = inputs.emplace_back(input_bytes(shape));
        for (Bytes i = 0; i < input.size() / word; ++i) {
            std::int64_t const each = value(place, i);
            std::memcpy(input.data() + i * word, &each, word);
        }
    }
    return inputs;
}

/// The place whose part holds word `i` of the full buffer, and which of its words that is.
std::pair<int, Bytes> part_with(Shape shape, Bytes i) {
    for (shape.place = 0; shape.place < shape.places; ++shape.place) {
        Bytes const words = own_part(shape) / word;
        if (i < words) {
            return {shape.place, i};
        }
        i -= words;
    }
    return {-1, 0};
}

std::int64_t expected(Shape shape, int place, Bytes i) {
    shape.place = place;
    Bytes const own_begin = shape.own_begin() / word;
    switch (shape.kind) {
    case OperationKind::broadcast:
        return value(shape.root, i);
    case OperationKind::scatter:
        return value(shape.root, own_begin + i);
    case OperationKind::all_gather:
    case OperationKind::gather: {
        auto const [from, at] = part_with(shape, i);
        return value(from, at);
    }
    case OperationKind::exchange: {
        Bytes const part = shape.part() / word;
        return value(static_cast<int>(i / part), static_cast<Bytes>(place) * part + i % part);
    }
    default:
        break;
    }
    Bytes const at = shape.kind == OperationKind::reduce_scatter ? own_begin + i : i;
    std::int64_t sum = 0;
    for (int from = 0; from < shape.places; ++from) {
        sum += value(from, at);
    }
    return sum;
}

void expect_right(Case const& tested, Shape const& shape, Protocol protocol, unsigned seed) {
    Outcome const outcome =
        simulate(tested.algorithm, shape, tested.knobs, Reduction::sum, inputs_of(shape), protocol, seed);
    auto const what = [&] {
        return std::to_string(shape.places) + " places, " + std::to_string(shape.bytes) + " B, root " +
               std::to_string(shape.root) + (shape.in_place ? ", in place" : "") + ", seed " + std::to_string(seed);
    };
    ASSERT_EQ(outcome.problem, "") << what();
    for (int place = 0; place < shape.places; ++place) {
        std::vector<std::byte> const& output = outcome.outputs[static_cast<std::size_t>(place)];
        for (Bytes i = 0; i < output.size() / word; ++i) {
            std::int64_t got = 0;
            std::memcpy(&got, output.data() + i * word, word);
            ASSERT_EQ(got, expected(shape, place, i)) << what() << ", place " << place << ", element " << i;
        }
    }
}

/// The same bytes in other parts: none for every third place, and all that are left for the last.
void make_uneven(Shape& shape) {
    Bytes left = shape.bytes;
    for (int place = 0; place < shape.places; ++place) {
        bool const last = place + 1 == shape.places;
        Bytes const share =
            last ? left : std::min(left, place % 3 == 1 ? 0 : shape.part() * (place % 2 == 0 ? 1U : 2U));
        shape.shares.push_back(share);
        left -= share;
    }
}

class AlgorithmResults : public testing::TestWithParam<Case> {};

TEST_P(AlgorithmResults, AreRightForAnyNumberOfPlacesAndAnySize) {
    Case const& tested = GetParam();
    bool const by_parts = tested.kind != OperationKind::all_reduce && tested.kind != OperationKind::broadcast &&
                          tested.kind != OperationKind::reduce;
    bool const may_be_in_place = tested.kind != OperationKind::exchange && tested.kind != OperationKind::broadcast;
    for (int places = 1; places <= 17; ++places) {
        unsigned seed = 0;
        // In words: nothing, fewer than places, odd, and more than one segment.
        for (Bytes const words : {Bytes{0}, Bytes{1}, Bytes{3}, Bytes{100}}) {
            for (Protocol const protocol : {Protocol::eager, Protocol::rendezvous}) {
                for (bool const in_place : {false, true}) {
                    Shape shape;
                    shape.kind = tested.kind;
                    shape.places = places;
                    shape.bytes = words * word * (by_parts ? static_cast<Bytes>(places) : 1);
                    shape.element = Element::int64;
                    shape.root = static_cast<int>(seed) % places;
                    shape.in_place = in_place || tested.kind == OperationKind::broadcast;
                    if (in_place && !may_be_in_place) {
                        continue;
                    }
                    expect_right(tested, shape, protocol, ++seed);
                    if (by_parts && tested.kind != OperationKind::exchange) {
                        make_uneven(shape);
                        expect_right(tested, shape, protocol, ++seed);
                    }
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Algorithms, AlgorithmResults,
    testing::Values(Case{"recursive_doubling", recursive_doubling, OperationKind::all_reduce},
                    Case{"ring_allreduce", ring, OperationKind::all_reduce},
                    Case{"ring_allreduce_segments", ring, OperationKind::all_reduce, {0, 3 * word}},
                    Case{"ring_reduce_scatter", ring, OperationKind::reduce_scatter, {0, 40 * word}},
                    Case{"ring_allgather", ring, OperationKind::all_gather, {0, 40 * word}},
                    Case{"knomial_allreduce_2", knomial, OperationKind::all_reduce, {2, 0}},
                    Case{"knomial_allreduce_4", knomial, OperationKind::all_reduce, {4, 0}},
                    Case{"knomial_allreduce_32", knomial, OperationKind::all_reduce, {32, 0}},
                    Case{"knomial_reduce_scatter_2", knomial, OperationKind::reduce_scatter, {2, 0}},
                    Case{"knomial_reduce_scatter_3", knomial, OperationKind::reduce_scatter, {3, 0}},
                    Case{"knomial_allgather", knomial, OperationKind::all_gather, {3, 0}},
                    Case{"knomial_tree_2", knomial_tree, OperationKind::broadcast, {2, 0}},
                    Case{"knomial_tree_4", knomial_tree, OperationKind::broadcast, {4, 0}},
                    Case{"chain", chain, OperationKind::broadcast, {0, 7 * word}},
                    Case{"knomial_reduce_2", knomial_tree, OperationKind::reduce, {2, 0}},
                    Case{"knomial_reduce_4", knomial_tree, OperationKind::reduce, {4, 0}},
                    Case{"chain_reduce", chain, OperationKind::reduce, {0, 7 * word}},
                    Case{"knomial_gather_2", knomial_tree, OperationKind::gather, {2, 0}},
                    Case{"knomial_gather_3", knomial_tree, OperationKind::gather, {3, 0}},
                    Case{"direct_gather", direct_parts, OperationKind::gather},
                    Case{"knomial_scatter_2", knomial_tree, OperationKind::scatter, {2, 0}},
                    Case{"knomial_scatter_4", knomial_tree, OperationKind::scatter, {4, 0}},
                    Case{"direct_scatter", direct_parts, OperationKind::scatter},
                    Case{"scatter_allgather", scatter_allgather, OperationKind::broadcast},
                    Case{"bruck_allgather", bruck_all_gather, OperationKind::all_gather},
                    Case{"bruck_exchange", bruck_exchange, OperationKind::exchange},
                    Case{"neighbor", neighbor, OperationKind::all_gather}),
    [](testing::TestParamInfo<Case> const& test) { return test.param.name; });

/// By place: whether it has heard, itself included, of every place when its last micro-step is complete.
bool hears_of_all(int places) {
    std::vector<std::vector<bool>> heard;
    for (int place = 0; place < places; ++place) {
        heard.emplace_back(static_cast<std::size_t>(places), false);
        heard.back()[static_cast<std::size_t>(place)] = true;
    }
    std::vector<MicroPlan> plans;
    std::size_t steps = 0;
    for (int place = 0; place < places; ++place) {
        Shape shape;
        shape.kind = OperationKind::barrier;
        shape.place = place;
        shape.places = places;
        plans.push_back(dissemination(shape, {}));
        steps = plans.back().steps.size();
    }
    // Rounds of a send and a receive: what a place sends is what it knew before the round.
    for (std::size_t round = 0; round < steps; round += 2) {
        auto const before = heard;
        for (int place = 0; place < places; ++place) {
            MicroStep const& send = plans[static_cast<std::size_t>(place)].steps[round];
            EXPECT_EQ(send.action, Action::send);
            EXPECT_EQ(send.after.size(), round / 2) << "waits for every receive before it";
            for (std::size_t known = 0; known < before.size(); ++known) {
                auto const to = static_cast<std::size_t>(send.peer);
                heard[to][known] = heard[to][known] || before[static_cast<std::size_t>(place)][known];
            }
        }
    }
    return std::all_of(heard.begin(), heard.end(), [](std::vector<bool> const& of_place) {
        return std::all_of(of_place.begin(), of_place.end(), [](bool each) { return each; });
    });
}

TEST(AlgorithmResults, NobodyLeavesABarrierBeforeAllHaveCome) {
    for (int places = 1; places <= 17; ++places) {
        EXPECT_TRUE(hears_of_all(places)) << places;
        Shape shape;
        shape.kind = OperationKind::barrier;
        shape.places = places;
        std::vector<std::vector<std::byte>> const nothing(static_cast<std::size_t>(places));
        for (Protocol const protocol : {Protocol::eager, Protocol::rendezvous}) {
            EXPECT_EQ(simulate(dissemination, shape, {}, Reduction::sum, nothing, protocol, 7).problem, "");
        }
    }
}

TEST(AlgorithmResults, NothingIsSentOnOnePlaceOrWithoutData) {
    for (OperationKind const kind :
         {OperationKind::all_reduce, OperationKind::reduce, OperationKind::reduce_scatter, OperationKind::all_gather,
          OperationKind::gather, OperationKind::scatter, OperationKind::broadcast}) {
        Shape shape;
        shape.kind = kind;
        shape.bytes = 64;
        shape.in_place = true;
        EXPECT_TRUE(automatic(shape, {}).steps.empty()) << name_of(kind);
        shape.places = 5;
        shape.bytes = 0;
        EXPECT_TRUE(automatic(shape, {}).steps.empty()) << name_of(kind);
    }
}

}  // namespace
}  // namespace dlmb::algorithms::results_test
