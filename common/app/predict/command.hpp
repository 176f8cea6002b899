// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of dlmb_predict: each a file of commands/ and a line in run_predict.cpp.
#pragma once

#include "common/app/subcommands.hpp"

namespace dlmb::app::predict {

/// Besides the exit codes of all programs: the model knows that its error is too large to answer.
inline constexpr int exit_unavailable = 69;
/// guidelines: measured calls break a guideline.
inline constexpr int exit_violations = 1;

// `exit_code` is that of the subcommand that ran.
void add_cross_validate(CLI::App& program, int& exit_code);
void add_fill(CLI::App& program, int& exit_code);
void add_fit(CLI::App& program, int& exit_code);
void add_guidelines(CLI::App& program, int& exit_code);
void add_points(CLI::App& program, int& exit_code);
void add_scale(CLI::App& program, int& exit_code);
void add_search(CLI::App& program, int& exit_code);
void add_table(CLI::App& program, int& exit_code);
void add_time(CLI::App& program, int& exit_code);

}  // namespace dlmb::app::predict
