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

#include "common/backend_kit/backend.hpp"
#include "common/backends/nccl/calls.hpp"

#include <functional>
#include <string>

namespace dlmb::nccl {

/// Messages use the world's communicator: plans pair them by ranks of the world, whatever their group.
struct CommunicatorLookup {
    ncclComm_t world = nullptr;
    std::function<ncclComm_t(Group const&)> of_group;
};

/// What the calls of a plan depend on besides the plan.
struct CallSettings {
    bool all_to_all = false;  // exchanges by ncclAlltoAll
    std::string why_no_fp8;   // empty: fp8 can be reduced
};

/// Everything but `wait`. Unsupported names the step.
[[nodiscard]] Expected<Item, Unsupported> to_nccl_call(Plan const& plan, StepId step, Buffers const& buffers,
                                                       CommunicatorLookup const& communicators,
                                                       CallSettings const& settings);

/// Unsupported names the first step that NCCL cannot do.
[[nodiscard]] Expected<std::vector<Item>, Unsupported> translate(Plan const& plan, Buffers const& buffers,
                                                                 CommunicatorLookup const& communicators,
                                                                 CallSettings const& settings);

}  // namespace dlmb::nccl
