// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Tensor-parallel collectives of transformer training and inference.
#include "patterns/tp_allreduce/tp_allreduce.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::tp_allreduce::type());
}
