// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// allreduce and reduce_scatter in shared memory. A place reduces its part of a segment from all windows; an allreduce
// puts the result into its window again, from where the others take it. While others still work on a segment, the next
// is copied into the other half of the window.
#include "common/backend_kit/algorithms/shared_phases.hpp"
#include "common/backend_kit/algorithms/shared_planner.hpp"

#include <array>

namespace dlmb::algorithms {
namespace {

SharedArea area(Area from) {
    return {from.space == Space::input ? SharedSpace::input : SharedSpace::output, 0, from.offset};
}

std::vector<SharedArea> operands_of(Shape const& shape, SharedArea own, SharedArea in_window) {
    std::vector<SharedArea> operands;
    for (int place = 0; place < shape.places; ++place) {
        operands.push_back(place == shape.place ? own : SharedArea{SharedSpace::window, place, in_window.offset});
    }
    return operands;
}

}  // namespace

SharedPlan shared_all_reduce_at_once(Shape const& shape) {
    SharedPlanner plan(shape.place, shape.places, shape.bytes);
    SharedArea const window = plan.window(shape.bytes);
    plan.copy(window, area(shape.input(0)), shape.bytes);
    plan.publish(1);
    plan.await_all(1);
    plan.reduce(area(shape.output(0)), operands_of(shape, window, window), shape.bytes);
    plan.offer_all(shape.bytes);
    return std::move(plan).finish(1, 2);
}

SharedPlan shared_all_reduce(Shape const& shape, Bytes segment) {
    // What is smaller is in the windows of all before the caches are full.
    SharedPlanner plan(shape.place, shape.places, shape.bytes,
                       shape.bytes < more_than_caches_hold ? never_streamed : least_streamed);
    std::vector<Segment> const segments = segments_of(shape.bytes, segment, shape.element);
    Bytes const most = segments.front().bytes;
    std::array<SharedArea, 2> const inputs{plan.window(most), plan.window(most)};
    std::array<SharedArea, 2> const results{plan.window(most), plan.window(most)};
    Phases const phases(segments.size());
    auto const copy_in = [&](std::size_t number) {
        Segment const& each = segments[number];
        Parts const parts(each.bytes, shape.element, shape.places);
        Bytes const begin = parts.begin(shape.place);
        Bytes const end = parts.begin(shape.place + 1);
        plan.copy(inputs.at(number % 2), area(shape.input(each.offset)), begin);
        plan.copy(inputs.at(number % 2) + end, area(shape.input(each.offset + end)), each.bytes - end);
        plan.publish(phases.filled(number));
    };
    copy_in(0);
    for (std::size_t number = 0; number < segments.size(); ++number) {
        if (number + 1 < segments.size()) {
            copy_in(number + 1);
        }
        Segment const& each = segments[number];
        Parts const parts(each.bytes, shape.element, shape.places);
        plan.await_all(phases.filled(number));
        Bytes const begin = parts.begin(shape.place);
        SharedArea const result = results.at(number % 2) + begin;
        plan.reduce(result, operands_of(shape, area(shape.input(each.offset + begin)), inputs.at(number % 2) + begin),
                    parts.bytes(shape.place));
        plan.publish(phases.used(number));
        plan.copy(area(shape.output(each.offset + begin)), result, parts.bytes(shape.place));
        for (int distance = 1; distance < shape.places; ++distance) {
            int const from = shape.right(shape.place, distance);
            plan.await(from, phases.used(number));
            Bytes const part = parts.begin(from);
            plan.copy(area(shape.output(each.offset + part)),
                      {SharedSpace::window, from, results.at(number % 2).offset + part}, parts.bytes(from));
        }
    }
    plan.offer_all(shape.bytes);
    return std::move(plan).finish(phases.count(), 1);
}

SharedPlan shared_reduce_scatter(Shape const& shape, Bytes segment) {
    constexpr Bytes least_gain = Bytes{1} << 20;
    SharedPlanner plan(shape.place, shape.places, shape.bytes,
                       shape.bytes < least_gain ? never_streamed : least_streamed);
    std::vector<Segment> const segments =
        segments_of(shape.part(), segment / static_cast<Bytes>(shape.places), shape.element);
    Bytes const most = segments.front().bytes;
    Bytes const slot = most * static_cast<Bytes>(shape.places);
    std::array<SharedArea, 2> const halves{plan.window(slot), segments.size() == 1 ? SharedArea{} : plan.window(slot)};
    auto const offset_for = [&](int place) { return static_cast<Bytes>(place) * most; };
    in_two_halves(
        plan, segments.size(),
        [&](std::size_t number) {
            for (int distance = 1; distance < shape.places; ++distance) {
                int const to = shape.right(shape.place, distance);
                Bytes const from = static_cast<Bytes>(to) * shape.part() + segments[number].offset;
                plan.copy(halves.at(number % 2) + offset_for(to), area(shape.input(from)), segments[number].bytes);
            }
        },
        [&](std::size_t number, std::uint32_t filled) {
            plan.await_all(filled);
            Bytes const own = static_cast<Bytes>(shape.place) * shape.part() + segments[number].offset;
            plan.reduce(area(shape.output(segments[number].offset)),
                        operands_of(shape, area(shape.input(own)), halves.at(number % 2) + offset_for(shape.place)),
                        segments[number].bytes);
        });
    plan.offer_all(shape.bytes);
    return std::move(plan).finish(stages_in_two_halves(segments.size()), segments.size() == 1 ? 2 : 1);
}

}  // namespace dlmb::algorithms
