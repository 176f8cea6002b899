// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The hand-written loop: the one MPI call that a plan's only step stands for, on the same buffers.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <mpi.h>

#include <functional>

namespace dlmb::benchmark {

/// Makes the call `iterations` times; `clocked`: and reads the clock after each, as whoever times iterations must.
/// Reads the plan's first step only; elements are fp32, reductions sums.
[[nodiscard]] std::function<void(int iterations)> native_loop(Plan const& plan, Buffers const& buffers, MPI_Comm comm,
                                                              bool clocked);

}  // namespace dlmb::benchmark
