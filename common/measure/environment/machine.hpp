// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Facts about this node; of no other rank. What Linux tells in files, and the shape of the node with the GPUs and
// network adapters that are near: of the latter there are two implementations, picked by CMake, with hwloc and without
// it.
#pragma once

#include "common/base/units.hpp"
#include "common/memory/devices.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace dlmb::measure {

/// `root` lets a test give a tree of its own. A fact that cannot be read is "unknown" here and absent below.
[[nodiscard]] std::string cpu_model(std::filesystem::path const& root = "/");

/// Kernel, memory, frequency governor, load and the settings of the kernel that change communication times.
[[nodiscard]] std::map<std::string, std::string> machine_facts(std::filesystem::path const& root = "/");

/// Processing units that a list such as "0-3,8" names; empty when it is not such a list.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string const& list);
[[nodiscard]] std::string cpu_list(std::vector<int> const& sorted_units);

/// Empty when there is no such file.
[[nodiscard]] std::string first_line(std::filesystem::path const& path);

/// Where the calling thread may run, and the NUMA nodes of these processing units as a list.
struct Affinity {
    std::vector<int> units;
    std::string numa;
};
[[nodiscard]] Affinity read_affinity(std::filesystem::path const& root = "/");

/// The cores that these processing units are threads of, each named by its first thread; ascending, each once. A unit
/// that the system says nothing of is a core of its own.
[[nodiscard]] std::vector<int> cores_of(std::vector<int> const& units, std::filesystem::path const& root = "/");

/// Conditions at the start of the launch that change times even if ranks are placed well. What cannot be read is
/// empty and 0.
struct NodeConditions {
    std::string governor;  // of processing unit 0
    double load = 0;       // mean over the last minute of threads that run or want to
};
[[nodiscard]] NodeConditions read_conditions(std::filesystem::path const& root = "/");

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
    int hops = 0;  // steps from one to the other in the tree of buses; 4 through one PCI switch; 0: one device
    std::string meeting_point;  // first part above both in that tree: "PCI switch", "host bridge", "package" ...
};
/// The network adapters on this node's PCI buses, the nearest to the PCI device at `pci_bus_id` first. Empty where that
/// device is not known, and without hwloc.
[[nodiscard]] std::vector<NearbyNic> nearby_nics(std::string const& pci_bus_id);

}  // namespace dlmb::measure
