// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan's steps to NCCL calls in plan order. Cold: runs in compile().
#pragma once

#include "common/backend/backend.hpp"
#include "common/backends/nccl/calls.hpp"
#include "common/backends/nccl/communicators.hpp"

namespace dlmb::nccl {

/// `all_to_all`: exchanges by ncclAlltoAll. Unsupported names the first step that NCCL cannot do. `communicators` are
/// prepared for the plan's groups.
[[nodiscard]] Expected<std::vector<NativeCall>, Unsupported>
translate(Plan const& plan, Buffers const& buffers, Communicators const& communicators, bool all_to_all);

}  // namespace dlmb::nccl
