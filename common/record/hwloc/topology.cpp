// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of this node as hwloc sees it.
#include "common/record/topology.hpp"

#include "common/record/hwloc/tree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlmb::record {
namespace {

int count(HwlocTree const& topology, hwloc_obj_type_t type) {
    int const found = hwloc_get_nbobjs_by_type(topology.get(), type);
    return found > 0 ? found : 0;
}

Bytes largest_cache(HwlocTree const& topology) {
    Bytes largest = 0;
    for (int depth = 0; depth < hwloc_topology_get_depth(topology.get()); ++depth) {
        if (hwloc_obj_type_is_dcache(hwloc_get_depth_type(topology.get(), depth)) != 0) {
            for (hwloc_obj_t cache = hwloc_get_obj_by_depth(topology.get(), depth, 0); cache != nullptr;
                 cache = cache->next_cousin) {
                largest = std::max<Bytes>(largest, cache->attr->cache.size);
            }
        }
    }
    return largest;
}

std::string synthetic_form(HwlocTree const& topology) {
    std::array<char, 4096> text{};
    // Without attributes: sizes of memory change with kernel versions, and this string is part of a machine's identity.
    int const written = hwloc_topology_export_synthetic(topology.get(), text.data(), text.size(),
                                                        HWLOC_TOPOLOGY_EXPORT_SYNTHETIC_FLAG_NO_ATTRS);
    return written > 0 ? text.data() : "";
}

}  // namespace

Topology read_topology() {
    HwlocTree const topology = load_tree();
    unsigned const version = hwloc_get_api_version();
    Topology result;
    result.source = fmt::format("hwloc {}.{}.{}", version >> 16, (version >> 8) & 0xFF, version & 0xFF);
    result.sockets = count(topology, HWLOC_OBJ_PACKAGE);
    result.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
    result.cores = count(topology, HWLOC_OBJ_CORE);
    result.processing_units = hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(topology.get()));
    result.largest_cache = largest_cache(topology);
    result.synthetic = synthetic_form(topology);
    return result;
}

}  // namespace dlmb::record
