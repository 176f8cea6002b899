// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Exchange of equal blocks by Bruck. The block for the place at distance d moves 2^i places to the right in round i if
// bit i of d is set; what moves in a round travels as one packed message.
#include "common/backend_kit/algorithms/algorithms.hpp"

namespace dlmb::algorithms {

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
