// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The traffic of a recorded run, from its plans.
#include "common/run/replay/replay.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::run::replay::type());
}
