// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of dlmb_trace: each a file of commands/ and a line in run_trace.cpp.
#pragma once

#include "common/app/subcommands.hpp"

namespace dlmb::app::traces {

// `exit_code` is that of the subcommand that ran.
void add_export(CLI::App& program, int& exit_code);
void add_import(CLI::App& program, int& exit_code);
void add_summary(CLI::App& program, int& exit_code);

}  // namespace dlmb::app::traces
