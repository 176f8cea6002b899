// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// Algorithms around a ring of places.
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <algorithm>
#include <array>

namespace dlmb::algorithms {
namespace {

/// Part p starts at place p + 1, takes up one operand at each place and is complete on place p; gathering passes
/// complete parts on. A part's pieces follow each other, so that a place reduces one while the next travels.
class Ring {
public:
    Ring(Shape const& shape, Knobs const& knobs)
        : shape_(shape), parts_(shape), segment_(knobs.segment == 0 ? default_segment : knobs.segment) {}

    /// `result`: where this place's part goes.
    void reduce_scatter(Area result) {
        if (shape_.places == 1) {
            plan_.copy(result, shape_.input(0), shape_.bytes);
            return;
        }
        Bytes largest = 0;
        for (int part = 0; part < shape_.places; ++part) {
            largest = std::max(largest, parts_.bytes(part));
        }
        std::array<Area, 2> const partial{plan_.scratch(largest), plan_.scratch(largest)};
        int const last = shape_.places - 2;
        for (int round = 0; round <= last; ++round) {
            Area const theirs = partial.at(static_cast<std::size_t>(round % 2));
            int const sent = shape_.right(shape_.place, -round - 1);
            Area const from = round == 0 ? input(sent) : partial.at(static_cast<std::size_t>((round - 1) % 2));
            send(sent, from);
            int const received = shape_.right(sent, -1);
            for_each_segment(parts_.bytes(received), segment_, shape_.element, [&](Bytes offset, Bytes bytes) {
                plan_.receive(left(), theirs + offset, bytes);
                plan_.reduce((round == last ? result : theirs) + offset, theirs + offset, input(received) + offset,
                             bytes);
            });
        }
    }

    /// This place's part already lies in the output.
    void all_gather() {
        for (int round = 0; round < shape_.places - 1; ++round) {
            int const sent = shape_.right(shape_.place, -round);
            send(sent, output(sent));
            int const received = shape_.right(sent, -1);
            for_each_segment(parts_.bytes(received), segment_, shape_.element, [&](Bytes offset, Bytes bytes) {
                plan_.receive(left(), output(received) + offset, bytes);
            });
        }
    }

    void copy_own_input() { plan_.copy(output(shape_.place), shape_.input(0), parts_.bytes(shape_.place)); }
    [[nodiscard]] Area own_output() const { return output(shape_.place); }
    [[nodiscard]] MicroPlan finish() && { return std::move(plan_).finish(); }

private:
    void send(int part, Area from) {
        for_each_segment(parts_.bytes(part), segment_, shape_.element, [&](Bytes offset, Bytes bytes) {
            plan_.send(shape_.right(shape_.place, 1), from + offset, bytes);
        });
    }
    [[nodiscard]] int left() const { return shape_.right(shape_.place, -1); }
    [[nodiscard]] Area input(int part) const { return shape_.input(parts_.begin(part)); }
    [[nodiscard]] Area output(int part) const { return shape_.output(parts_.begin(part)); }

    Shape const& shape_;
    Parts parts_;
    Bytes segment_;
    MicroPlanner plan_;
};

}  // namespace

MicroPlan ring(Shape const& shape, Knobs const& knobs) {
    Ring ring(shape, knobs);
    if (shape.kind == OperationKind::reduce_scatter) {
        ring.reduce_scatter(shape.output(0));
    } else if (shape.kind == OperationKind::all_reduce) {
        ring.reduce_scatter(ring.own_output());
        ring.all_gather();
    } else {
        ring.copy_own_input();
        ring.all_gather();
    }
    return std::move(ring).finish();
}

/// Places 2i and 2i + 1 first make a pair of parts. Then every place swaps the pair it got last with its neighbours in
/// turn, so that pairs travel around the ring in both directions.
MicroPlan neighbor(Shape const& shape, Knobs const& knobs) {
    if (shape.places % 2 == 1) {
        return ring(shape, knobs);
    }
    MicroPlanner plan;
    Parts const parts(shape);
    auto const at = [&](int place) { return shape.output(parts.begin(place)); };
    bool const even = shape.place % 2 == 0;
    int const outward = even ? 1 : -1;
    std::array<int, 2> const peers{shape.right(shape.place, outward), shape.right(shape.place, -outward)};

    plan.copy(at(shape.place), shape.input(0), parts.bytes(shape.place));
    plan.send(peers[0], at(shape.place), parts.bytes(shape.place));
    plan.receive(peers[0], at(peers[0]), parts.bytes(peers[0]));
    int const own_pair = shape.place - (even ? 0 : 1);
    int latest = own_pair;
    for (int round = 1; round < shape.places / 2; ++round) {
        // The side that is not `outward` is asked first; its pairs come from 2, 4 ... places further on.
        int const distance = 2 * ((round + 1) / 2);
        int const pair = shape.right(own_pair, round % 2 == 1 ? -outward * distance : outward * distance);
        int const peer = peers.at(static_cast<std::size_t>(round % 2));
        plan.send(peer, at(latest), parts.bytes(latest, latest + 2));
        plan.receive(peer, at(pair), parts.bytes(pair, pair + 2));
        latest = pair;
    }
    return std::move(plan).finish();
}

}  // namespace dlmb::algorithms
