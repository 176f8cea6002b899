// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_info: what this build and this machine can do, and why something is missing.
#pragma once

namespace dlmb::app {

/// Prints a table, or one JSON object with --json. Exit 0, or 64 for a wrong option.
int run_info(int argc, char** argv);

}  // namespace dlmb::app
