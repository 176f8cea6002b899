// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of this node. Two implementations, picked by CMake: with hwloc, and without.
#pragma once

#include "common/base/units.hpp"

#include <string>

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

}  // namespace dlmb::record
