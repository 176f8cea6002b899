// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What one rank does in one collective, as messages and local work on memory: a plain value like a plan, one level
// below it. No library, no address, no clock: all ranks of an algorithm can be played in one test.
#pragma once

#include "common/base/units.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::algorithms {

/// The buffers of a collective on one rank: what it contributes, what it gets, and memory of the algorithm's own.
enum class Space : std::uint8_t { input, output, scratch };

struct Area {
    Space space = Space::input;
    Bytes offset = 0;
    bool operator==(Area const&) const = default;
};

enum class Action : std::uint8_t { send, receive, copy, reduce };

/// send: `left` to `peer`. receive: into `to` from `peer`. copy: to = left. reduce: to = left (reduction) right by
/// elements, where `to` may be one of the two. The k-th send from a to b and the k-th receive on b from a are one
/// message; sends to one peer start in order, and so do receives from one peer.
struct MicroStep {
    Action action = Action::copy;
    int peer = -1;  // place in the group
    Area to;
    Area left;
    Area right;
    Bytes bytes = 0;                   // never 0
    std::vector<std::uint32_t> after;  // earlier micro-steps that are complete before this one starts
};

struct MicroPlan {
    std::vector<MicroStep> steps;
    Bytes scratch_bytes = 0;
};

}  // namespace dlmb::algorithms
