// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace dlmb::app {

/// main() of dlmb_predict; returns the exit code.
int run_predict(int argc, char** argv);

}  // namespace dlmb::app
