// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// broadcast over a k-nomial tree. Places are counted from the root; in base k, a place's parent has its lowest digit
// that is not zero set to zero, and its children differ from it in one of the zeros below that digit.
#include "common/backend_kit/algorithms/algorithms.hpp"

namespace dlmb::algorithms {

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

}  // namespace dlmb::algorithms
