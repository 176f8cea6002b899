// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Makes, shows and asks tuning tables.
#include "common/tools/tune/commands/run_tune.hpp"

int main(int argc, char** argv) {
    return dlmb::tuning::run_tune(argc, argv);
}
