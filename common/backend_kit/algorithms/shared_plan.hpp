// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one place does in one collective among places that share memory, as loads and stores: a plain value like
// MicroPlan. Every place has a window that the others read and a counter that they watch. Steps run in their order.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::algorithms {

enum class SharedSpace : std::uint8_t { input, output, window };

struct SharedArea {
    SharedSpace space = SharedSpace::input;
    int place = 0;     // whose window
    Bytes offset = 0;  // in another's window: from where it told this place to begin
    bool operator==(SharedArea const&) const = default;
};

enum class SharedAction : std::uint8_t { await, publish, copy, reduce };

/// await: until the counter of `place` is at `stage` of the iteration that lies `back` before this one, or beyond;
/// stages before the first iteration are over. publish: this place is at `stage`, which grows within an iteration up to
/// SharedPlan::stages. copy: to = left. reduce: to = left (reduction) right, where `to` may be one of the two.
struct SharedStep {
    SharedAction action = SharedAction::copy;
    int place = 0;
    std::uint32_t stage = 0;
    std::uint32_t back = 0;
    SharedArea to;
    SharedArea left;
    SharedArea right;
    Bytes bytes = 0;
    bool past_caches = false;  // of a copy: what it writes need not stay in this place's caches
};

/// What another place is told about this place's window, and what it compares with its own idea.
struct SharedOffer {
    Bytes offset = 0;
    Bytes bytes = 0;
};

struct SharedPlan {
    std::vector<SharedStep> steps;
    std::uint32_t stages = 0;  // of this place; another may have more or fewer
    Bytes window_bytes = 0;    // of one window
    int windows = 1;           // iteration i uses window i modulo this, 1 or 2; another place may have the other number
    std::vector<SharedOffer> offers;  // by place; 0 B: none
    std::vector<Bytes> expected;      // by place: what it must offer
};

}  // namespace dlmb::algorithms
