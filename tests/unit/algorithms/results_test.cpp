// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm on 1 to 17 places: results, delivery and dependencies, under both protocols and random interleaving.
#include "tests/unit/algorithms/simulation.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace dlmb::algorithms {
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

std::vector<std::vector<std::byte>> inputs_of(Shape const& shape) {
    std::vector<std::vector<std::byte>> inputs;
    for (int place = 0; place < shape.places; ++place) {
        std::vector<std::byte>& input = inputs.emplace_back(input_bytes(shape));
        for (Bytes i = 0; i < input.size() / word; ++i) {
            std::int64_t const each = value(place, i);
            std::memcpy(input.data() + i * word, &each, word);
        }
    }
    return inputs;
}

std::int64_t expected(Shape const& shape, int place, Bytes i) {
    Bytes const part = shape.part() / word;
    switch (shape.kind) {
    case OperationKind::broadcast:
        return value(shape.root, i);
    case OperationKind::all_gather:
        return value(static_cast<int>(i / part), i % part);
    case OperationKind::exchange:
        return value(static_cast<int>(i / part), static_cast<Bytes>(place) * part + i % part);
    default:
        break;
    }
    Bytes const at = shape.kind == OperationKind::reduce_scatter ? static_cast<Bytes>(place) * part + i : i;
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

class AlgorithmResults : public testing::TestWithParam<Case> {};

TEST_P(AlgorithmResults, AreRightForAnyNumberOfPlacesAndAnySize) {
    Case const& tested = GetParam();
    bool const by_parts = tested.kind != OperationKind::all_reduce && tested.kind != OperationKind::broadcast;
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
                    Case{"scatter_allgather", scatter_allgather, OperationKind::broadcast},
                    Case{"bruck_allgather", bruck_all_gather, OperationKind::all_gather},
                    Case{"bruck_exchange", bruck_exchange, OperationKind::exchange},
                    Case{"neighbor", neighbor, OperationKind::all_gather}),
    [](testing::TestParamInfo<Case> const& test) { return test.param.name; });

TEST(AlgorithmResults, NothingIsSentOnOnePlaceOrWithoutData) {
    for (OperationKind const kind : {OperationKind::all_reduce, OperationKind::reduce_scatter,
                                     OperationKind::all_gather, OperationKind::broadcast}) {
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
}  // namespace dlmb::algorithms
