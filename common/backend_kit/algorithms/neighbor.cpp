// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// allgather by neighbour exchange. Places 2i and 2i + 1 first make a pair of parts; then every place swaps the pair it
// got last with its neighbours in turn, so that pairs travel around the ring in both directions.
#include "common/backend_kit/algorithms/algorithms.hpp"

#include <array>

namespace dlmb::algorithms {

MicroPlan neighbor(Shape const& shape, Knobs const& knobs) {
    if (shape.places % 2 == 1) {
        return ring(shape, knobs);
    }
    MicroPlanner plan;
    Bytes const part = shape.part();
    auto const at = [&](int place) { return shape.output(static_cast<Bytes>(place) * part); };
    bool const even = shape.place % 2 == 0;
    int const outward = even ? 1 : -1;
    std::array<int, 2> const peers{shape.right(shape.place, outward), shape.right(shape.place, -outward)};

    plan.copy(at(shape.place), shape.input(0), part);
    plan.send(peers[0], at(shape.place), part);
    plan.receive(peers[0], at(peers[0]), part);
    int const own_pair = shape.place - (even ? 0 : 1);
    int latest = own_pair;
    for (int round = 1; round < shape.places / 2; ++round) {
        // The side that is not `outward` is asked first; its pairs come from 2, 4 ... places further on.
        int const distance = 2 * ((round + 1) / 2);
        int const pair = shape.right(own_pair, round % 2 == 1 ? -outward * distance : outward * distance);
        int const peer = peers.at(static_cast<std::size_t>(round % 2));
        plan.send(peer, at(latest), 2 * part);
        plan.receive(peer, at(pair), 2 * part);
        latest = pair;
    }
    return std::move(plan).finish();
}

}  // namespace dlmb::algorithms
