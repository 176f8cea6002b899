// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace dlmb {

/// Exit codes of all programs. unavailable: a model knows that its error is too large to answer. nothing_ran: no cell
/// could.
enum ExitCode : int {
    exit_ok = 0,
    exit_cell_failed = 1,
    exit_usage = 64,
    exit_unavailable = 69,
    exit_output = 74,
    exit_nothing_ran = 77
};

}  // namespace dlmb
