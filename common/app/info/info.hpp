// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info: what this build and this machine can do, and why something is missing.
#pragma once

#include "common/bootstrap/bootstrap.hpp"

namespace dlmb::app {

/// Prints a table, or one JSON object with --json. Exit 0, or 64 for a wrong option.
int run_info(int argc, char** argv);

/// Collective over two ranks. A launch of its own: a library that does not take device memory crashes, which ends this
/// process with one line and exit_cell_failed. Otherwise exit_ok (it does), exit_cell_failed (payload was wrong) or
/// exit_nothing_ran (no device). Throws UsageError for any other number of ranks.
[[nodiscard]] int probe_mpi_device(Bootstrap& bootstrap);

}  // namespace dlmb::app
