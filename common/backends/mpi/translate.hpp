// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// From a plan's steps to prepared native calls. Cold: runs in compile().
#pragma once

#include "common/backends/mpi/communicators.hpp"
#include "common/backends/mpi/limits.hpp"
#include "common/backends/mpi/methods.hpp"
#include "common/backends/mpi/mpi_plan.hpp"
#include "common/backends/mpi/survey.hpp"

namespace dlmb::mpi {

/// Tasks by step. Collective; `agreed` is equal on all ranks, and `communicators` are prepared for `plan`.
[[nodiscard]] std::vector<Task> translate(Plan const& plan, Buffers const& buffers, Method const& method,
                                          Survey const& agreed, Communicators const& communicators,
                                          Limits const& limits);

}  // namespace dlmb::mpi
