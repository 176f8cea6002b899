// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which network adapters are near a GPU. Two implementations, picked by CMake: with hwloc, and one that knows none.
#pragma once

#include <string>
#include <vector>

namespace dlmb::record {

struct NearbyNic {
    std::string names;  // that the system gives it: "mlx5_0 ib0"
    std::string pci_bus_id;
    int hops = 0;               // steps from one to the other in the tree of buses; 4 through one PCI switch
    std::string meeting_point;  // where their ways meet: "PCI switch", "host bridge", "package", "machine" ...
};

/// The network adapters on this node's PCI buses, the nearest to the PCI device at `pci_bus_id` first. Empty where that
/// device is not known, and without hwloc.
[[nodiscard]] std::vector<NearbyNic> nearby_nics(std::string const& pci_bus_id);

}  // namespace dlmb::record
