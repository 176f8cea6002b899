// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Point-to-point traffic of pipeline-parallel training.
#include "patterns/pipeline_p2p/pipeline_p2p.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::pipeline_p2p::type());
}
