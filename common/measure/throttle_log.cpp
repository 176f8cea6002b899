// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/throttle_log.hpp"

#include "common/bootstrap/over_ranks.hpp"

namespace dlmb::measure {
namespace {

// In the order in which one rank's word outweighs another's.
constexpr std::int64_t at_full_speed = 0;
constexpr std::int64_t not_known = 1;
constexpr std::int64_t held_down = 2;

}  // namespace

void ThrottleLog::look() {
    if (gpu_ == nullptr) {
        return;
    }
    if (auto const now = gpu_->now()) {
        seen_ = seen_.value_or(false) || *now;
    }
}

std::optional<bool> ThrottleLog::over_ranks(Bootstrap& bootstrap) const {
    std::int64_t const mine = !seen_ ? not_known : *seen_ ? held_down : at_full_speed;
    std::int64_t const all = reduce_over_ranks(bootstrap, mine, Fold::max);
    return all == not_known ? std::nullopt : std::optional(all == held_down);
}

}  // namespace dlmb::measure
