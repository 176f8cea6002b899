// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Data-parallel gradient reduction, ZeRO and FSDP.
#include "patterns/dp_gradients/dp_gradients.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::dp_gradients::type());
}
