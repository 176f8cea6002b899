// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan and a method to something that runs: the steps of compile(), each the same on all ranks.
#pragma once

#include "common/backends/nccl/methods.hpp"
#include "common/backends/nccl/queued_plan.hpp"

namespace dlmb::nccl {

/// Collective. `shared.communicators` are prepared for the plan's groups. `why_no_fp8`: empty when fp8 can be reduced.
[[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                           Method const& asked,
                                                                           std::string const& why_no_fp8,
                                                                           Shared const& shared);

}  // namespace dlmb::nccl
