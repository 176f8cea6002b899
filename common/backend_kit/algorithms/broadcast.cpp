// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Algorithms of broadcast.
#include "common/backend_kit/algorithms/algorithms.hpp"

namespace dlmb::algorithms {

/// Places are counted from the root. In base k, a place's parent has its lowest digit that is not zero set to zero, and
/// its children differ from it in one of the zeros below that digit.
MicroPlan knomial_tree(Shape const& shape, Knobs const& knobs) {
    MicroPlanner plan;
    Bytes const radix = knobs.radix == 0 ? default_radix : static_cast<Bytes>(knobs.radix);
    auto const places = static_cast<Bytes>(shape.places);
    auto const me = static_cast<Bytes>(shape.right(shape.place, -shape.root));
    auto const peer = [&](Bytes number) { return shape.right(shape.root, static_cast<int>(number)); };
    Area const data = shape.output(0);
    Bytes distance = 1;
    while (distance < places && me % (distance * radix) == 0) {
        distance *= radix;
    }
    if (me != 0) {
        plan.receive(peer(me - me % (distance * radix)), data, shape.bytes);
    }
    while (distance > 1) {
        distance /= radix;
        for (Bytes child = me + distance; child < me + distance * radix && child < places; child += distance) {
            plan.send(peer(child), data, shape.bytes);
        }
    }
    return std::move(plan).finish();
}

/// A place passes one piece on while the next arrives.
MicroPlan chain(Shape const& shape, Knobs const& knobs) {
    MicroPlanner plan;
    int const from_root = shape.right(shape.place, -shape.root);
    Bytes const segment = knobs.segment == 0 ? default_segment : knobs.segment;
    for_each_segment(shape.bytes, segment, shape.element, [&](Bytes offset, Bytes bytes) {
        if (from_root > 0) {
            plan.receive(shape.right(shape.place, -1), shape.output(offset), bytes);
        }
        if (from_root + 1 < shape.places) {
            plan.send(shape.right(shape.place, 1), shape.output(offset), bytes);
        }
    });
    return std::move(plan).finish();
}

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
