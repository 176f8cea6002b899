// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The traffic of a recorded run, from its plans.
#include "common/app/replay/replay.hpp"

#include "common/app/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::app::run_benchmark(argc, argv, dlmb::app::replay::type());
}
