// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/base/processing_units.hpp"

#include "common/base/error.hpp"

#include <cstddef>
#include <sched.h>

namespace dlmb {

std::vector<int> usable_processing_units() {
    // The kernel refuses a mask smaller than its own with EINVAL; machines above 1024 units need a larger one.
    for (int units = CPU_SETSIZE; units <= most_processing_units; units *= 2) {
        std::vector<cpu_set_t> mask(static_cast<std::size_t>(units) / CPU_SETSIZE);
        std::size_t const bytes = mask.size() * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, mask.data()) != 0) {
            continue;
        }
        std::vector<int> result;
        for (int unit = 0; unit < units; ++unit) {
            if (CPU_ISSET_S(static_cast<std::size_t>(unit), bytes, mask.data())) {
                result.push_back(unit);
            }
        }
        return result;
    }
    throw Error("sched_getaffinity: no mask size is accepted");
}

}  // namespace dlmb
