// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Algorithms of Bruck: few messages of many blocks.
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <algorithm>

namespace dlmb::algorithms {

/// After a round that reaches 2^i places to the right, a place has the parts of 2^(i+1) places from itself on. Parts
/// lie where they belong from the start: no rotation at the end, but a run may wrap around.
MicroPlan bruck_all_gather(Shape const& shape, Knobs const& /*knobs*/) {
    MicroPlanner plan;
    Parts const parts(shape);
    plan.copy(shape.output(parts.begin(shape.place)), shape.input(0), parts.bytes(shape.place));
    /// Calls use(area, bytes) for `count` parts from place `first` on.
    auto const run = [&](int first, int count, auto const& use) {
        int const straight = std::min(count, shape.places - first);
        use(shape.output(parts.begin(first)), parts.bytes(first, first + straight));
        use(shape.output(0), parts.bytes(0, count - straight));
    };
    for (int have = 1; have < shape.places; have *= 2) {
        int const count = std::min(have, shape.places - have);
        int const left = shape.right(shape.place, -have);
        int const right = shape.right(shape.place, have);
        run(shape.place, count, [&](Area area, Bytes bytes) { plan.send(left, area, bytes); });
        run(right, count, [&](Area area, Bytes bytes) { plan.receive(right, area, bytes); });
    }
    return std::move(plan).finish();
}

/// The block for the place at distance d moves 2^i places to the right in round i if bit i of d is set. What moves in a
/// round travels as one packed message.
MicroPlan bruck_exchange(Shape const& shape, Knobs const& /*knobs*/) {
    MicroPlanner plan;
    Bytes const block = shape.part();
    std::vector<Area> at;  // by distance: where the block that still has to go that far, or came from there, lies now
    for (int distance = 0; distance < shape.places; ++distance) {
        at.push_back(shape.input(static_cast<Bytes>(shape.right(shape.place, distance)) * block));
    }
    for (int bit = 1; bit < shape.places; bit *= 2) {
        std::vector<std::size_t> moving;
        for (int distance = bit; distance < shape.places; ++distance) {
            if ((distance & bit) != 0) {
                moving.push_back(static_cast<std::size_t>(distance));
            }
        }
        Bytes const bytes = moving.size() * block;
        Area const leaving = plan.scratch(bytes);
        Area const arriving = plan.scratch(bytes);
        for (std::size_t i = 0; i < moving.size(); ++i) {
            plan.copy(leaving + i * block, at[moving[i]], block);
            at[moving[i]] = arriving + i * block;
        }
        plan.send(shape.right(shape.place, bit), leaving, bytes);
        plan.receive(shape.right(shape.place, -bit), arriving, bytes);
    }
    for (int distance = 0; distance < shape.places; ++distance) {
        auto const source = static_cast<Bytes>(shape.right(shape.place, -distance));
        plan.copy(shape.output(source * block), at[static_cast<std::size_t>(distance)], block);
    }
    return std::move(plan).finish();
}

}  // namespace dlmb::algorithms
