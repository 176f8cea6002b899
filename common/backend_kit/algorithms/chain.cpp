// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// broadcast along a chain of all places, in pieces: a place passes one on while the next arrives.
#include "common/backend_kit/algorithms/algorithms.hpp"

namespace dlmb::algorithms {

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

}  // namespace dlmb::algorithms
