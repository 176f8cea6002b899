// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include <algorithm>
#include <optional>

namespace dlmb {
namespace {

/// Of the devices that the fewest ranks have, the first one on `node`, else the first.
int nearest(int node, std::span<int const> numa_of_device, std::vector<int> const& ranks_on) {
    int const fewest = *std::min_element(ranks_on.begin(), ranks_on.end());
    std::optional<int> any;
    for (std::size_t device = 0; device < ranks_on.size(); ++device) {
        if (ranks_on[device] != fewest) {
            continue;
        }
        if (node >= 0 && numa_of_device[device] == node) {
            return static_cast<int>(device);
        }
        any = any.value_or(static_cast<int>(device));
    }
    return any.value();
}

}  // namespace

std::vector<int> assign_devices(std::span<int const> numa_of_rank, std::span<int const> numa_of_device) {
    std::vector<int> ranks_on(numa_of_device.size(), 0);
    std::vector<int> assigned;
    for (int const node : numa_of_rank) {
        if (ranks_on.empty()) {
            break;
        }
        int const device = nearest(node, numa_of_device, ranks_on);
        ++ranks_on[static_cast<std::size_t>(device)];
        assigned.push_back(device);
    }
    return assigned;
}

}  // namespace dlmb
