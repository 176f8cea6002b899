// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/memory/devices.hpp"

#include <algorithm>
#include <optional>

namespace dlmb {
namespace {

/// Of the devices that the fewest ranks have, the first of the nearest.
std::size_t nearest(std::vector<int> const& distances, std::vector<int> const& ranks_on) {
    int const fewest = *std::min_element(ranks_on.begin(), ranks_on.end());
    std::optional<std::size_t> found;
    for (std::size_t device = 0; device < ranks_on.size(); ++device) {
        if (ranks_on[device] == fewest && (!found || distances[device] < distances[*found])) {
            found = device;
        }
    }
    return found.value();
}

}  // namespace

std::vector<int> assign_devices(std::vector<std::vector<int>> const& distances) {
    std::vector<int> ranks_on(distances.empty() ? 0 : distances.front().size(), 0);
    std::vector<int> assigned;
    for (std::vector<int> const& of_rank : distances) {
        if (ranks_on.empty()) {
            break;
        }
        std::size_t const device = nearest(of_rank, ranks_on);
        ++ranks_on[device];
        assigned.push_back(static_cast<int>(device));
    }
    return assigned;
}

}  // namespace dlmb
