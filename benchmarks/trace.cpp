// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the communication of recorded runs.
#include "common/tools/plan/commands/run_trace.hpp"

int main(int argc, char** argv) {
    return dlmb::trace::run_trace(argc, argv);
}
