// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the communication of recorded runs.
#include "common/app/trace/run_trace.hpp"

int main(int argc, char** argv) {
    return dlmb::app::run_trace(argc, argv);
}
