// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan's steps to what two streams do, in the order in which the host enqueues it. Cold: runs in compile().
//
// Everything that communicates runs in plan order on one stream: NCCL operations of one rank that run in another order
// than on its peers would wait in a circle. Messages with no other call between them that do not wait for each other go
// into one group, where they proceed together. Computations run on a second stream; the two wait for each other only
// where the plan says so.
#pragma once

#include "common/backends/nccl/call_of.hpp"

namespace dlmb::nccl {

/// Unsupported names the first step that NCCL cannot do.
[[nodiscard]] Expected<std::vector<Item>, Unsupported> translate(Plan const& plan, Buffers const& buffers,
                                                                 CommunicatorLookup const& communicators,
                                                                 CallSettings const& settings);

}  // namespace dlmb::nccl
