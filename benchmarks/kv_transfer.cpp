// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The KV cache of disaggregated inference, from prefill to decode ranks.
#include "patterns/kv_transfer/kv_transfer.hpp"

#include "common/run/benchmark.hpp"

int main(int argc, char** argv) {
    return dlmb::run::run_benchmark(argc, argv, dlmb::kv_transfer::type());
}
