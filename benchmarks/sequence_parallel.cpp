// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ulysses and ring attention over long sequences.
#include "patterns/sequence_parallel/sequence_parallel.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::sequence_parallel::type());
}
