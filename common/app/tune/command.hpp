// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of dlmb_tune: each a file of commands/ and a line in run_tune.cpp.
#pragma once

#include "common/app/subcommands.hpp"

namespace dlmb::app::tune {

// `exit_code` is that of the subcommand that ran.
void add_build(CLI::App& tune, int& exit_code);
void add_export(CLI::App& tune, int& exit_code);
void add_gain(CLI::App& tune, int& exit_code);
void add_lookup(CLI::App& tune, int& exit_code);
void add_show(CLI::App& tune, int& exit_code);
void add_verify(CLI::App& tune, int& exit_code);

}  // namespace dlmb::app::tune
