// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The ring: part p starts at place p + 1, takes up one operand at each place and is complete on place p; gathering
// passes complete parts on. A part's pieces follow each other, so that a place reduces one while the next travels.
#include "common/backend_kit/algorithms/algorithms.hpp"

#include <array>

namespace dlmb::algorithms {
namespace {

class Ring {
public:
    Ring(Shape const& shape, Knobs const& knobs)
        : shape_(shape), parts_(shape.bytes, shape.element, shape.places),
          segment_(knobs.segment == 0 ? default_segment : knobs.segment) {}

    /// `result`: where this place's part goes.
    void reduce_scatter(Area result) {
        if (shape_.places == 1) {
            plan_.copy(result, shape_.input(0), shape_.bytes);
            return;
        }
        std::array<Area, 2> const partial{plan_.scratch(parts_.bytes(0)), plan_.scratch(parts_.bytes(0))};
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

}  // namespace dlmb::algorithms
