// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// allgather by Bruck: after a round that reaches 2^i places to the right, a place has the parts of 2^(i+1) places from
// itself on. Parts lie where they belong from the start: no rotation at the end, but a run may wrap around.
#include "common/backend_kit/algorithms/algorithms.hpp"

#include <algorithm>

namespace dlmb::algorithms {

MicroPlan bruck_all_gather(Shape const& shape, Knobs const& /*knobs*/) {
    MicroPlanner plan;
    Bytes const part = shape.part();
    plan.copy(shape.output(static_cast<Bytes>(shape.place) * part), shape.input(0), part);
    /// Calls use(area, bytes) for `count` parts from place `first` on.
    auto const run = [&](int first, int count, auto const& use) {
        int const straight = std::min(count, shape.places - first);
        use(shape.output(static_cast<Bytes>(first) * part), static_cast<Bytes>(straight) * part);
        use(shape.output(0), static_cast<Bytes>(count - straight) * part);
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

}  // namespace dlmb::algorithms
