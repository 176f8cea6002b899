// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// allgather and broadcast in shared memory: what others need goes into the window, they copy it out.
#include "common/backend_kit/algorithms/shared_algorithms.hpp"
#include "common/backend_kit/algorithms/shared_phases.hpp"

#include <array>

namespace dlmb::algorithms {
namespace {

/// Segments of a broadcast that the root may be ahead of the slowest reader.
constexpr std::size_t ahead = 4;

SharedArea input(Shape const& shape, Bytes offset) {
    Area const area = shape.input(offset);
    return {area.space == Space::input ? SharedSpace::input : SharedSpace::output, 0, area.offset};
}

}  // namespace

SharedPlan shared_all_gather(Shape const& shape, Bytes segment) {
    SharedPlanner plan(shape.place, shape.places, shape.bytes, least_streamed);
    std::vector<Segment> const segments =
        segments_of(shape.part(), segment / static_cast<Bytes>(shape.places), shape.element);
    Bytes const most = segments.front().bytes;
    std::array<SharedArea, 2> const halves{plan.window(most), segments.size() == 1 ? SharedArea{} : plan.window(most)};
    auto const output = [&](int place, Segment const& each) {
        return SharedArea{SharedSpace::output, 0, static_cast<Bytes>(place) * shape.part() + each.offset};
    };
    in_two_halves(
        plan, segments.size(),
        [&](std::size_t number) {
            plan.copy(halves.at(number % 2), input(shape, segments[number].offset), segments[number].bytes);
        },
        [&](std::size_t number, std::uint32_t filled) {
            Segment const& each = segments[number];
            if (!shape.in_place) {
                plan.copy(output(shape.place, each), input(shape, each.offset), each.bytes);
            }
            for (int distance = 1; distance < shape.places; ++distance) {
                int const from = shape.right(shape.place, distance);
                plan.await(from, filled);
                plan.copy(output(from, each), {SharedSpace::window, from, halves.at(number % 2).offset}, each.bytes);
            }
        });
    plan.offer_all(shape.bytes);
    return std::move(plan).finish(stages_in_two_halves(segments.size()), segments.size() == 1 ? 2 : 1);
}

SharedPlan shared_broadcast(Shape const& shape, Bytes segment) {
    SharedPlanner plan(shape.place, shape.places, shape.bytes, least_streamed);
    std::vector<Segment> const segments = segments_of(shape.bytes, segment, shape.element);
    auto const stages = static_cast<std::uint32_t>(segments.size());
    std::vector<SharedArea> slots;
    for (std::size_t slot = 0; slot < std::min(ahead, segments.size()); ++slot) {
        slots.push_back(plan.window(segments.front().bytes));
    }
    int const windows = slots.size() < ahead ? 2 : 1;
    for (std::size_t number = 0; number < segments.size(); ++number) {
        Segment const& each = segments[number];
        SharedArea const slot = slots[number % slots.size()];
        SharedArea const output{SharedSpace::output, 0, each.offset};
        auto const stage = static_cast<std::uint32_t>(number + 1);
        if (shape.place == shape.root) {
            if (number == 0) {
                plan.await_all(stages, static_cast<std::uint32_t>(windows));
            } else if (number >= slots.size()) {
                plan.await_all(stage - static_cast<std::uint32_t>(slots.size()));
            }
            plan.copy(slot, input(shape, each.offset), each.bytes);
        } else {
            plan.await(shape.root, stage);
            plan.copy(output, {SharedSpace::window, shape.root, slot.offset}, each.bytes);
        }
        plan.publish(stage);
    }
    plan.offer_all(shape.bytes);
    return std::move(plan).finish(stages, windows);
}

}  // namespace dlmb::algorithms
