// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Allreduce of sparse gradients: Ok-Topk and the algorithms that it was compared with.
#include "patterns/sparse_allreduce/sparse_allreduce.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::sparse_allreduce::type());
}
