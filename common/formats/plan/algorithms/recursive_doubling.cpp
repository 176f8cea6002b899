// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// allreduce by recursive doubling. Places beyond a power of two: the first 2 * extra places are pairs, whose odd one
// hands its input to the even one and gets the result at the end.
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <array>
#include <bit>

namespace dlmb::algorithms {

MicroPlan recursive_doubling(Shape const& shape, Knobs const& /*knobs*/) {
    MicroPlanner plan;
    Bytes const bytes = shape.bytes;
    int const doubling = static_cast<int>(std::bit_floor(static_cast<unsigned>(shape.places)));
    int const extra = shape.places - doubling;
    bool const paired = shape.place < 2 * extra;
    Area const output = shape.output(0);
    Area mine = shape.input(0);
    if (paired && shape.place % 2 == 1) {
        plan.send(shape.place - 1, mine, bytes);
        plan.receive(shape.place - 1, output, bytes);
        return std::move(plan).finish();
    }
    // Two, so that the next round's receive is posted while this round's operand is reduced.
    std::array<Area, 2> const theirs{plan.scratch(bytes), plan.scratch(bytes)};
    std::size_t round = 0;
    if (paired) {
        plan.receive(shape.place + 1, theirs[round], bytes);
        plan.reduce(output, mine, theirs[round], bytes);
        mine = output;
        ++round;
    }
    int const number = paired ? shape.place / 2 : shape.place - extra;
    for (int distance = 1; distance < doubling; distance *= 2, ++round) {
        int const partner = number ^ distance;
        int const peer = partner < extra ? 2 * partner : partner + extra;
        Area const operand = theirs.at(round % 2);
        plan.send(peer, mine, bytes);
        plan.receive(peer, operand, bytes);
        bool const lower = number < partner;
        plan.reduce(output, lower ? mine : operand, lower ? operand : mine, bytes);
        mine = output;
    }
    plan.copy(output, mine, bytes);
    if (paired) {
        plan.send(shape.place + 1, output, bytes);
    }
    return std::move(plan).finish();
}

}  // namespace dlmb::algorithms
