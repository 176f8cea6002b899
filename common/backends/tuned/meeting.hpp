// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Names under which ranks find each other's ends of one operation in what they gather.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>
#include <vector>

namespace dlmb::tuned {

/// The same on all ranks of a step, and so likely another for every other one that 2^20 steps collide once in 2^24
/// plans. A send and its receive have one.
using MeetingKey = std::uint64_t;
inline constexpr MeetingKey no_meeting = 0;  // of Compute

/// By StepId.
[[nodiscard]] std::vector<MeetingKey> meetings_of(Plan const& plan);

}  // namespace dlmb::tuned
