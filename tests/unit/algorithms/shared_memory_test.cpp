// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Collectives in shared memory on 2 to 9 places: results over several iterations, whose steps are taken in random turns
// and whose data differs, so that a window that is used again too early shows.
#include "tests/unit/algorithms/shared_node.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

namespace dlmb::algorithms {
namespace {

constexpr Bytes word = sizeof(std::int64_t);
constexpr std::int64_t iterations = 4;

std::int64_t value(std::int64_t iteration, int place, Bytes i) {
    return iteration * 1'000'000'007 + static_cast<std::int64_t>(static_cast<Bytes>(place + 1) * 1'000'003 + i * 7919);
}

void put(Memory& memory, Bytes offset, std::int64_t number) {
    std::memcpy(memory.data() + offset, &number, word);
}

std::int64_t get(Memory const& memory, Bytes offset) {
    std::int64_t number = 0;
    std::memcpy(&number, memory.data() + offset, word);
    return number;
}

std::int64_t expected(Shape const& shape, std::int64_t iteration, int place, Bytes i) {
    Bytes const part = shape.part() / word;
    if (shape.kind == OperationKind::broadcast) {
        return value(iteration, shape.root, i);
    }
    if (shape.kind == OperationKind::all_gather) {
        return value(iteration, static_cast<int>(i / part), i % part);
    }
    Bytes const at = shape.kind == OperationKind::reduce_scatter ? static_cast<Bytes>(place) * part + i : i;
    std::int64_t sum = 0;
    for (int from = 0; from < shape.places; ++from) {
        sum += value(iteration, from, at);
    }
    return sum;
}

void expect_right(Shape shape, Bytes segment, unsigned seed) {
    Bytes const sent = shape.kind == OperationKind::all_gather ? shape.part() : shape.bytes;
    Bytes const got = shape.kind == OperationKind::reduce_scatter ? shape.part() : shape.bytes;
    auto const area_of = [&](Place& state, Area area) -> std::pair<Memory*, Bytes> {
        return {area.space == Space::input ? &state.input : &state.output, area.offset};
    };
    Node node(
        shape.element,
        [&](int place, Place& state) {
            Shape own = shape;
            own.place = place;
            for (Bytes i = 0; i < sent / word; ++i) {
                auto const [memory, offset] = area_of(state, own.input(i * word));
                put(*memory, offset, value(state.iteration, place, i));
            }
        },
        [&](int place, Place& state) {
            Shape own = shape;
            own.place = place;
            for (Bytes i = 0; i < got / word; ++i) {
                auto const [memory, offset] = area_of(state, own.output(i * word));
                ASSERT_EQ(get(*memory, offset), expected(shape, state.iteration, place, i))
                    << name_of(shape.kind) << " of " << shape.bytes << " B on " << shape.places << " places, iteration "
                    << state.iteration << ", place " << place << ", element " << i;
            }
        });
    for (shape.place = 0; shape.place < shape.places; ++shape.place) {
        node.add(shared_memory(shape, segment), shape.bytes, shape.bytes);
    }
    node.run(iterations, seed);
}

TEST(SharedMemory, CollectivesAreRightForAnyNumberOfPlacesAndAnySizeInPlaceOrNot) {
    unsigned seed = 0;
    for (OperationKind const kind : {OperationKind::all_reduce, OperationKind::reduce_scatter,
                                     OperationKind::all_gather, OperationKind::broadcast}) {
        bool const by_parts = kind == OperationKind::reduce_scatter || kind == OperationKind::all_gather;
        for (int const places : {2, 3, 5, 8}) {
            // In words: fewer than places, odd, and several segments, more than every place reduces by itself.
            for (Bytes const words : {Bytes{1}, Bytes{37}, Bytes{1500}}) {
                for (bool const in_place : {false, true}) {
                    Shape shape;
                    shape.kind = kind;
                    shape.places = places;
                    shape.bytes = words * word * (by_parts ? static_cast<Bytes>(places) : 1);
                    shape.element = Element::int64;
                    shape.root = static_cast<int>(++seed) % places;
                    shape.in_place = in_place || kind == OperationKind::broadcast;
                    for (Bytes const segment : {Bytes{0}, Bytes{1000}, Bytes{9000}}) {
                        expect_right(shape, segment, seed);
                    }
                }
            }
        }
    }
}

/// Whether what place 0 writes into its window goes past the caches, of copies: of all or of none.
bool streams_to_window(SharedPlan const& plan) {
    std::set<bool> found;
    for (SharedStep const& step : plan.steps) {
        if (step.action == SharedAction::copy && step.to.space == SharedSpace::window) {
            found.insert(step.past_caches);
        }
    }
    EXPECT_EQ(found.size(), 1U);
    return found.count(true) > 0;
}

bool streams_to_window(OperationKind kind, Bytes bytes) {
    Shape shape;
    shape.kind = kind;
    shape.places = 4;
    shape.bytes = bytes;
    shape.element = Element::fp32;
    return streams_to_window(shared_memory(shape, 0));
}

TEST(SharedMemory, CopiesToTheWindowGoPastTheCachesFrom16KiBOnWhereTheyAreNotReducedSoon) {
    constexpr Bytes kib = 1024;
    EXPECT_FALSE(streams_to_window(OperationKind::broadcast, 16 * kib - 4));
    EXPECT_TRUE(streams_to_window(OperationKind::broadcast, 16 * kib));
    EXPECT_FALSE(streams_to_window(OperationKind::all_gather, 4 * (16 * kib - 4)));
    EXPECT_TRUE(streams_to_window(OperationKind::all_gather, 4 * 16 * kib));
    EXPECT_FALSE(streams_to_window(OperationKind::all_reduce, 2048 * kib));
    EXPECT_TRUE(streams_to_window(OperationKind::all_reduce, 4096 * kib));
    EXPECT_FALSE(streams_to_window(OperationKind::reduce_scatter, 512 * kib));
    EXPECT_TRUE(streams_to_window(OperationKind::reduce_scatter, 1024 * kib));
    for (Bytes const bytes : {16 * kib - 1, 16 * kib}) {
        std::array<SharedBlock, 1> const block{{{1, 0, bytes}}};
        EXPECT_EQ(streams_to_window(shared_exchange(0, 2, block, block, 0)), bytes == 16 * kib);
    }
}

/// Bytes from one place to another: none, some and many segments, to itself too.
Bytes block(int from, int to) {
    return static_cast<Bytes>((from * 5 + to * 3) % 7) * 2003 * word;
}

TEST(SharedMemory, ARaggedExchangeDeliversEveryBlock) {
    for (int places = 2; places <= 9; ++places) {
        auto const offset = [&](auto const& bytes, int until) {
            Bytes sum = 0;
            for (int place = 0; place < until; ++place) {
                sum += bytes(place);
            }
            return sum;
        };
        Node node(
            Element::byte,
            [&](int place, Place& state) {
                for (Bytes i = 0; i < state.input.size() / word; ++i) {
                    put(state.input, i * word, value(state.iteration, place, i));
                }
            },
            [&](int place, Place& state) {
                for (int from = 0; from < places; ++from) {
                    Bytes const there = offset([&](int to) { return block(from, to); }, place);
                    Bytes const here = offset([&](int other) { return block(other, place); }, from);
                    for (Bytes at = 0; at < block(from, place); at += word) {
                        ASSERT_EQ(get(state.output, here + at), value(state.iteration, from, (there + at) / word))
                            << from << " to " << place << " of " << places << ", iteration " << state.iteration;
                    }
                }
            });
        for (int place = 0; place < places; ++place) {
            std::vector<SharedBlock> sent;
            std::vector<SharedBlock> received;
            auto const to_others = [&](int to) { return block(place, to); };
            auto const from_others = [&](int from) { return block(from, place); };
            for (int other = 0; other < places; ++other) {
                if (block(place, other) > 0) {
                    sent.push_back({other, offset(to_others, other), block(place, other)});
                }
                if (block(other, place) > 0) {
                    received.push_back({other, offset(from_others, other), block(other, place)});
                }
            }
            node.add(shared_exchange(place, places, sent, received, Bytes{16} << 10), offset(to_others, places),
                     offset(from_others, places));
        }
        node.run(iterations, static_cast<unsigned>(places));
    }
}

}  // namespace
}  // namespace dlmb::algorithms
