// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/benchmarks/mpi_overhead/loops.hpp"

namespace dlmb::overhead {

extern "C" void dlmb_overhead_compiled(CompiledPlan& plan, int iterations) {
    for (int i = 0; i < iterations; ++i) {
        plan.launch();
        plan.finish();
    }
}

}  // namespace dlmb::overhead
