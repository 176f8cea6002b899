// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Weights from one division over ranks to another one.
#include "patterns/reshard/reshard.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::reshard::type());
}
