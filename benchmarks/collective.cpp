// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One plain operation over a range of message sizes: the bridge to OSU Micro-Benchmarks and nccl-tests.
#include "patterns/collective/collective.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::collective::type());
}
