// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_tune: makes, shows and asks tuning tables.
#pragma once

namespace dlmb::app {

/// Exit 0, 1 for a fault, 64 for bad usage or a bad input file, 74 when output cannot be written.
int run_tune(int argc, char** argv);

}  // namespace dlmb::app
