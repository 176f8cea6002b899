// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI backend: host memory, and memory of a device as it is or staged, over any MPI-3 library. What it measures is
// the library's own calls, prepared once.
#pragma once

#include "common/backend_kit/registry.hpp"

namespace dlmb::mpi {

/// The sizes above which a transfer takes another path. Parameters, so that a test reaches those paths with small
/// buffers.
struct CallLimits {
    Bytes call_bytes = 2'147'483'647;    // largest count or displacement of a call that takes int
    Bytes chunk_bytes = Bytes{1} << 30;  // largest point-to-point message; larger blocks travel as several
    int channels = 32'767;               // that fit the tags of the library; every library has these
};

/// Collective. Unsupported unless the ranks are MPI processes.
[[nodiscard]] MadeBackend make_backend(BackendContext const& context);

/// With other limits than MPI's own, for tests of the paths behind them.
[[nodiscard]] MadeBackend make_limited_backend(BackendContext const& context, CallLimits const& limits);

}  // namespace dlmb::mpi
