// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as prepared calls of UCC, which run as their dependencies allow.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backends/ucc/context.hpp"
#include "common/backends/ucc/methods.hpp"
#include "common/base/idle.hpp"

namespace dlmb::ucc {

/// Collective over the world. `method` says how steps are called, `context` has its algorithms.
[[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                           Method const& method, Context& context,
                                                                           Bootstrap& bootstrap, Idle idle);

}  // namespace dlmb::ucc
