// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include <utility>

namespace dlmb {

std::vector<int> assign_devices(std::vector<std::vector<int>> const& distances) {
    std::vector<int> ranks_on(distances.empty() ? 0 : distances.front().size(), 0);
    std::vector<int> assigned;
    for (std::vector<int> const& of_rank : distances) {
        if (ranks_on.empty()) {
            break;
        }
        std::size_t best = 0;  // of the devices that the fewest ranks have, the first of the nearest
        for (std::size_t device = 1; device < ranks_on.size(); ++device) {
            if (std::pair(ranks_on[device], of_rank[device]) < std::pair(ranks_on[best], of_rank[best])) {
                best = device;
            }
        }
        ++ranks_on[best];
        assigned.push_back(static_cast<int>(best));
    }
    return assigned;
}

}  // namespace dlmb
