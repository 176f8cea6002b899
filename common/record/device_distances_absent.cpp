// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/device_distances.hpp"

namespace dlmb::record {

std::vector<int> device_distances(Affinity const& rank, std::vector<Device> const& devices) {
    std::vector<int> const nodes = parse_cpu_list(rank.numa);
    std::vector<int> distances;
    for (Device const& device : devices) {
        bool const near = nodes.size() == 1 && nodes.front() == device.numa_node;
        distances.push_back(near ? 0 : 1);
    }
    return distances;
}

}  // namespace dlmb::record
