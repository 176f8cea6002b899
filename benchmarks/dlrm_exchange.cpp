// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Embedding exchange of recommendation models, forward and backward, with its dense allreduces.
#include "patterns/dlrm_exchange/dlrm_exchange.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::dlrm_exchange::type());
}
