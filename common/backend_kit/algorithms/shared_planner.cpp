// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/algorithms/shared_planner.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::algorithms {
namespace {

constexpr Bytes window_alignment = 64;
constexpr Bytes reduced_at_once = Bytes{8} << 10;  // whole elements of every type

}  // namespace

SharedPlanner::SharedPlanner(int place, int places, Bytes output_bytes, Bytes streamed_from)
    : place_(place), places_(places), past_caches_(output_bytes >= more_than_caches_hold),
      streamed_from_(streamed_from) {
    plan_.offers.resize(static_cast<std::size_t>(places));
    plan_.expected.resize(static_cast<std::size_t>(places));
}

void SharedPlanner::await(int place, std::uint32_t stage, std::uint32_t back) {
    plan_.steps.push_back({SharedAction::await, place, stage, back, {}, {}, {}, 0, false});
}

void SharedPlanner::await_all(std::uint32_t stage, std::uint32_t back) {
    for (int distance = 1; distance < places_; ++distance) {
        await((place_ + distance) % places_, stage, back);
    }
}

void SharedPlanner::publish(std::uint32_t stage) {
    plan_.steps.push_back({SharedAction::publish, place_, stage, 0, {}, {}, {}, 0, false});
}

void SharedPlanner::copy(SharedArea to, SharedArea from, Bytes bytes) {
    if (bytes > 0) {
        plan_.steps.push_back(
            {SharedAction::copy, place_, 0, 0, to, from, {}, bytes, goes_past_caches(to.space, bytes)});
    }
}

bool SharedPlanner::goes_past_caches(SharedSpace to, Bytes bytes) const {
    return to == SharedSpace::output ? past_caches_ : to == SharedSpace::window && bytes >= streamed_from_;
}

void SharedPlanner::reduce(SharedArea to, std::vector<SharedArea> const& operands, Bytes bytes) {
    auto const own = static_cast<std::size_t>(std::find(operands.begin(), operands.end(), to) - operands.begin());
    bool const is_operand = own > 1 && own < operands.size();  // and must not be lost before its turn
    SharedArea const spare = is_operand ? window(reduced_at_once) : to;
    for (Bytes at = 0; at < bytes; at += reduced_at_once) {
        Bytes const piece = std::min(reduced_at_once, bytes - at);
        SharedArea left = operands.front() + at;
        for (std::size_t number = 1; number < operands.size(); ++number) {
            SharedArea const sum = is_operand && number < own ? spare : to + at;
            plan_.steps.push_back({SharedAction::reduce, place_, 0, 0, sum, left, operands[number] + at, piece, false});
            left = sum;
        }
    }
}

SharedArea SharedPlanner::window(Bytes bytes) {
    SharedArea const fresh{SharedSpace::window, place_, plan_.window_bytes};
    plan_.window_bytes += (bytes + window_alignment - 1) / window_alignment * window_alignment;
    return fresh;
}

void SharedPlanner::offer(int place, SharedOffer offer, Bytes expected) {
    plan_.offers.at(static_cast<std::size_t>(place)) = offer;
    plan_.expected.at(static_cast<std::size_t>(place)) = expected;
}

void SharedPlanner::offer_all(Bytes operation_bytes) {
    for (int place = 0; place < places_; ++place) {
        if (place != place_) {
            offer(place, {0, operation_bytes}, operation_bytes);
        }
    }
}

SharedPlan SharedPlanner::finish(std::uint32_t stages, int windows) && {
    plan_.stages = stages;
    plan_.windows = windows;
    return std::move(plan_);
}

}  // namespace dlmb::algorithms
