// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan's steps as what tag matching can do: messages to and from world ranks, local copies, busy time. Every
// collective that this backend offers becomes messages here, so that the methods only decide order and window.
#pragma once

#include "common/backend/backend.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::ucx {

struct Message {
    Rank peer = 0;     // world rank
    int distance = 0;  // how far ahead (sends) or behind (receives) in the group's ring: the rotated order
    std::byte* data = nullptr;
    Bytes bytes = 0;
};

struct LocalCopy {
    std::byte* to = nullptr;
    std::byte const* from = nullptr;
    Bytes bytes = 0;
};

/// One step. Steps of two ranks belong together when kind and key are equal, in plan order.
struct LoweredStep {
    StepId step = 0;
    std::uint64_t kind = 0;  // index of the operation; a receive carries that of its send
    std::uint64_t key = 0;   // group members, or the channel of a send and receive
    std::vector<Message> receives;
    std::vector<Message> sends;
    std::vector<LocalCopy> copies;
    Nanoseconds busy_ns = 0;
    std::string problem;  // what is wrong with this rank's step on its own; empty when nothing is
};

/// Why a plan has a step that cannot be lowered; nothing when all can.
[[nodiscard]] std::optional<std::string> why_not_lowered(Plan const& plan);

/// `copy_self`: blocks to oneself are plain copies; otherwise (device memory) they are messages to oneself.
[[nodiscard]] std::vector<LoweredStep> lower(Plan const& plan, Buffers const& buffers, bool copy_self);

}  // namespace dlmb::ucx
