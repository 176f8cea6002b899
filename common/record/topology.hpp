// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of this node, and which GPUs and network adapters are near. Two implementations, picked by CMake: with
// hwloc, and without it from the files of Linux.
#pragma once

#include "common/base/units.hpp"
#include "common/memory/devices.hpp"
#include "common/record/machine.hpp"

#include <string>
#include <vector>

namespace dlmb::record {

struct Topology {
    std::string source;  // "hwloc 2.9.0", or "sysfs" without hwloc
    int sockets = 0;
    int numa_nodes = 0;
    int cores = 0;
    int processing_units = 0;  // that this launch may use (cpuset limits of a container or job applied)
    Bytes largest_cache = 0;   // of one cache for data, whatever its level; 0: unknown
    std::string synthetic;     // hwloc's one-line form without sizes; empty without hwloc or for uneven nodes
};
[[nodiscard]] Topology read_topology();

/// By device: processing units of the smallest part of this node (core, NUMA node, package, machine ...) that holds the
/// rank's units and the device's place among the buses. Less is nearer; only comparable within one call. Without hwloc
/// 0 on the rank's only NUMA node and 1 elsewhere. All alike for a rank that may run anywhere.
[[nodiscard]] std::vector<int> device_distances(Affinity const& rank, std::vector<Device> const& devices);

struct NearbyNic {
    std::string names;  // that the system gives it: "mlx5_0 ib0"
    std::string pci_bus_id;
    int hops = 0;               // steps from one to the other in the tree of buses; 4 through one PCI switch
    std::string meeting_point;  // first part above both in that tree: "PCI switch", "host bridge", "package" ...
};
/// The network adapters on this node's PCI buses, the nearest to the PCI device at `pci_bus_id` first. Empty where that
/// device is not known, and without hwloc.
[[nodiscard]] std::vector<NearbyNic> nearby_nics(std::string const& pci_bus_id);

}  // namespace dlmb::record
