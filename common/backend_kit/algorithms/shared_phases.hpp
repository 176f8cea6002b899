// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How collectives in shared memory go through their segments: which stage of the counter says what, and when the
// memory of a segment may be used again. Internal to the shared-memory algorithms.
#pragma once

#include "common/backend_kit/algorithms/shape.hpp"
#include "common/backend_kit/algorithms/shared_planner.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::algorithms {

struct Segment {
    Bytes offset = 0;
    Bytes bytes = 0;
};

[[nodiscard]] inline std::vector<Segment> segments_of(Bytes bytes, Bytes segment, Element element) {
    std::vector<Segment> segments;
    for_each_segment(bytes, segment, element, [&](Bytes offset, Bytes size) { segments.push_back({offset, size}); });
    return segments;
}

/// Two stages per segment, the next one filled before the one in hand is used: filled 0, filled 1, used 0, filled 2,
/// used 1 ... The number of a stage does not depend on how many segments there are.
class Phases {
public:
    explicit Phases(std::size_t segments) : segments_(static_cast<std::uint32_t>(segments)) {}
    [[nodiscard]] std::uint32_t filled(std::size_t number) const {
        return number == 0 ? 1 : 2 * static_cast<std::uint32_t>(number);
    }
    [[nodiscard]] std::uint32_t used(std::size_t number) const { return 2 * static_cast<std::uint32_t>(number) + 3; }
    [[nodiscard]] std::uint32_t count() const { return 2 * segments_ + 1; }

private:
    std::uint32_t segments_;
};

[[nodiscard]] inline std::uint32_t stages_in_two_halves(std::size_t segments) {
    return segments == 1 ? 1 : Phases(segments).count();
}

/// Operations that read each segment of the windows once. fill(number): into half number % 2. use(number, stage): from
/// there, where others have filled it at `stage`. One segment alternates between two windows instead: whoever has
/// filled one has left the other.
template <class Fill, class Use>
void in_two_halves(SharedPlanner& plan, std::size_t segments, Fill const& fill, Use const& use) {
    if (segments == 1) {
        fill(0);
        plan.publish(1);
        use(0, 1);
        return;
    }
    Phases const phases(segments);
    auto const fill_and_say = [&](std::size_t number) {
        if (number >= 2) {
            plan.await_all(phases.used(number - 2));
        }
        fill(number);
        plan.publish(phases.filled(number));
    };
    plan.await_all(phases.count(), 1);
    fill_and_say(0);
    for (std::size_t number = 0; number < segments; ++number) {
        if (number + 1 < segments) {
            fill_and_say(number + 1);
        }
        use(number, phases.filled(number));
        plan.publish(phases.used(number));
    }
}

[[nodiscard]] SharedPlan shared_all_reduce_at_once(Shape const& shape);
[[nodiscard]] SharedPlan shared_all_reduce(Shape const& shape, Bytes segment);
[[nodiscard]] SharedPlan shared_reduce_scatter(Shape const& shape, Bytes segment);
[[nodiscard]] SharedPlan shared_all_gather(Shape const& shape, Bytes segment);
[[nodiscard]] SharedPlan shared_broadcast(Shape const& shape, Bytes segment);

}  // namespace dlmb::algorithms
