// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The words of a schedule: what one rank does, in order. Pure data; no sizes, no times, no steps.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace dlmb::pipeline_p2p {

enum class Direction : std::uint8_t { forward, backward };  // of data: activations forward, gradients backward

/// backward: the whole backward pass. Zero-bubble schedules split it into the gradient of the input, which the previous
/// stage waits for, and the gradient of the weights, which nobody waits for.
enum class Pass : std::uint8_t { forward, backward, backward_input, backward_weight };

/// One pass of one micro-batch through one stage of one pipe (layout.hpp).
struct Work {
    Pass pass = Pass::forward;
    int pipe = 0;
    int stage = 0;
    int microbatch = 0;
    bool operator==(Work const&) const = default;
};

/// One tensor that arrives at, or leaves, the stage `stage` of this rank.
struct Message {
    Direction direction = Direction::forward;
    bool incoming = false;
    int pipe = 0;
    int stage = 0;
    int microbatch = 0;
    bool operator==(Message const&) const = default;
};

/// One computation: one work, or a forward and a backward that are overlapped and end together (DualPipe).
using Task = std::vector<Work>;

/// Messages that are issued together.
using Transfer = std::vector<Message>;

/// AllReduce of a stage's gradients over its replicas (Chimera).
struct GradientSync {
    int pipe = 0;
    int stage = 0;
    bool operator==(GradientSync const&) const = default;
};

using Action = std::variant<Task, Transfer, GradientSync>;

}  // namespace dlmb::pipeline_p2p
