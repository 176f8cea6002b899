// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of this node without hwloc: what Linux tells in /sys.
#include "common/record/machine.hpp"
#include "common/record/topology.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

namespace dlmb::record {
namespace {

namespace fs = std::filesystem;

std::string first_line(fs::path const& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

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

}  // namespace

Topology read_topology() {
    std::vector<int> const units = usable_units();
    std::set<std::string> sockets;
    std::set<std::string> cores;
    for (int const unit : units) {
        fs::path const folder = "/sys/devices/system/cpu/cpu" + std::to_string(unit) + "/topology";
        std::string const socket = first_line(folder / "physical_package_id");
        sockets.insert(socket);
        cores.insert(socket + ":" + first_line(folder / "core_id"));
    }
    Topology result;
    result.source = "sysfs";
    result.sockets = static_cast<int>(sockets.size());
    result.numa_nodes = static_cast<int>(parse_cpu_list(first_line("/sys/devices/system/node/online")).size());
    result.cores = static_cast<int>(cores.size());
    result.processing_units = static_cast<int>(units.size());
    return result;
}

}  // namespace dlmb::record
