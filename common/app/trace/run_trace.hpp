// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace dlmb::app {

/// The program dlmb_trace; returns its exit code.
int run_trace(int argc, char** argv);

}  // namespace dlmb::app
