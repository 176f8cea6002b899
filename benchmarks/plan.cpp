// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plans as files: from traces, changed, and for other programs.
#include "common/tools/plan/commands/run_plan.hpp"

int main(int argc, char** argv) {
    return dlmb::trace::run_plan(argc, argv);
}
