// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI backend: host memory, and memory of a device as it is or staged, over any MPI-3 library. What it measures is
// the library's own calls, prepared once.
#pragma once

#include "common/backend_kit/registry.hpp"
#include "common/backends/mpi/limits.hpp"

namespace dlmb::mpi {

/// Collective. Unsupported unless the ranks are MPI processes.
[[nodiscard]] MadeBackend make_backend(BackendContext const& context);

/// With other limits than MPI's own, for tests of the paths behind them.
[[nodiscard]] MadeBackend make_limited_backend(BackendContext const& context, Limits const& limits);

}  // namespace dlmb::mpi
