// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info --probe-mpi-device: tries whether MPI takes pointers to device memory, by doing it.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

namespace dlmb::app {

/// Collective over two ranks. A launch of its own: a library that does not take device memory crashes, which ends this
/// process with one line and exit_cell_failed. Otherwise exit_ok (it does), exit_cell_failed (payload was wrong) or
/// exit_nothing_ran (no device). Throws UsageError for any other number of ranks.
[[nodiscard]] int probe_mpi_device(Bootstrap& bootstrap);

}  // namespace dlmb::app
