// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/idle.hpp"

namespace dlmb {

int usable_processing_units() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    return CPU_COUNT(&set);
}

bool should_yield(YieldPolicy policy, int local_ranks) {
    if (policy == YieldPolicy::automatic) {
        return local_ranks > usable_processing_units();
    }
    return policy == YieldPolicy::always;
}

}  // namespace dlmb
