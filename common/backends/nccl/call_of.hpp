// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From one step of a plan to the NCCL call that does it.
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
[[nodiscard]] Expected<Item, Unsupported> call_of(Plan const& plan, StepId step, Buffers const& buffers,
                                                  CommunicatorLookup const& communicators,
                                                  CallSettings const& settings);

}  // namespace dlmb::nccl
