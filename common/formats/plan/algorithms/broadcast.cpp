// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Broadcast in two steps.
#include "common/formats/plan/algorithms/algorithms.hpp"

namespace dlmb::algorithms {

/// The root sends one part to each other place, and these exchange their parts.
MicroPlan scatter_allgather(Shape const& shape, Knobs const& /*knobs*/) {
    MicroPlanner plan;
    int const others = shape.places - 1;
    if (others == 0) {
        return std::move(plan).finish();
    }
    Parts const parts(shape.bytes, shape.element, others);
    // Part p is dealt to the place p + 1 after the root.
    auto const place = [&](int part) { return shape.right(shape.root, part + 1); };
    auto const data = [&](int part) { return shape.output(parts.begin(part)); };
    int const mine = shape.right(shape.place, -shape.root) - 1;
    if (mine < 0) {
        for (int part = 0; part < others; ++part) {
            plan.send(place(part), data(part), parts.bytes(part));
        }
        return std::move(plan).finish();
    }
    plan.receive(shape.root, data(mine), parts.bytes(mine));
    for (int distance = 1; distance < others; ++distance) {
        plan.send(place((mine + distance) % others), data(mine), parts.bytes(mine));
    }
    for (int distance = 1; distance < others; ++distance) {
        int const part = (mine + others - distance) % others;
        plan.receive(place(part), data(part), parts.bytes(part));
    }
    return std::move(plan).finish();
}

}  // namespace dlmb::algorithms
