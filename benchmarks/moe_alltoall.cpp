// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Expert-parallel dispatch and combine of mixture-of-experts models.
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::moe_alltoall::type());
}
