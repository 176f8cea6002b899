// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This node without hwloc: what Linux tells in /sys.
#include "common/measure/environment/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace dlmb::measure {
namespace {

namespace fs = std::filesystem;

/// Limits of a container (cgroup 2, then 1), else all units that are switched on.
std::vector<int> usable_units() {
    for (char const* file : {"/sys/fs/cgroup/cpuset.cpus.effective", "/sys/fs/cgroup/cpuset/cpuset.effective_cpus",
                             "/sys/devices/system/cpu/online"}) {
        std::vector<int> units = parse_cpu_list(first_line(file));
        if (!units.empty()) {
            return units;
        }
    }
    return read_affinity().units;
}

/// sysconf(_SC_LEVEL3_CACHE_SIZE) would be the sum over a socket on some processors.
Bytes largest_cache(fs::path const& unit) {
    Bytes largest = 0;
    std::error_code failed;  // no such folder: a kernel or a machine that does not tell
    for (auto const& cache : fs::directory_iterator(unit / "cache", failed)) {
        if (std::string const size = first_line(cache.path() / "size");
            !size.empty() && first_line(cache.path() / "type") != "Instruction") {
            largest = std::max(largest, parse_bytes(size, "size of a cache"));
        }
    }
    return largest;
}

}  // namespace

Topology read_topology() {
    std::vector<int> const units = usable_units();
    std::set<std::string> sockets;
    std::set<std::string> cores;
    Topology result;
    for (int const unit : units) {
        fs::path const cpu = "/sys/devices/system/cpu/cpu" + std::to_string(unit);
        result.largest_cache = std::max(result.largest_cache, largest_cache(cpu));
        fs::path const folder = cpu / "topology";
        std::string const socket = first_line(folder / "physical_package_id");
        sockets.insert(socket);
        cores.insert(socket + ":" + first_line(folder / "core_id"));
    }
    result.source = "sysfs";
    result.sockets = static_cast<int>(sockets.size());
    result.numa_nodes = static_cast<int>(parse_cpu_list(first_line("/sys/devices/system/node/online")).size());
    result.cores = static_cast<int>(cores.size());
    result.processing_units = static_cast<int>(units.size());
    return result;
}

std::vector<int> device_distances(Affinity const& rank, std::vector<Device> const& devices) {
    std::vector<int> const nodes = parse_cpu_list(rank.numa);
    std::vector<int> distances;
    for (Device const& device : devices) {
        bool const near = nodes.size() == 1 && nodes.front() == device.numa_node;
        distances.push_back(near ? 0 : 1);
    }
    return distances;
}

std::vector<NearbyNic> nearby_nics(std::string const& /*pci_bus_id*/) {
    return {};
}

}  // namespace dlmb::measure
