// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of this node as hwloc sees it: limits of containers and jobs are already applied.
#include "common/base/error.hpp"
#include "common/record/topology.hpp"

#include <fmt/core.h>
#include <hwloc.h>

#include <array>
#include <memory>
#include <string_view>

namespace dlmb::record {
namespace {

void check(int code, std::string_view call) {
    if (code != 0) {
        throw Error(fmt::format("{} returned {}", call, code));
    }
}
template <class T>
void check(T, std::string_view) = delete;

using Handle = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Handle load() {
    hwloc_topology_t raw = nullptr;
    check(hwloc_topology_init(&raw), "hwloc_topology_init");
    Handle topology(raw, hwloc_topology_destroy);
    check(hwloc_topology_load(raw), "hwloc_topology_load");
    return topology;
}

int count(Handle const& topology, hwloc_obj_type_t type) {
    int const found = hwloc_get_nbobjs_by_type(topology.get(), type);
    return found > 0 ? found : 0;
}

std::string synthetic_form(Handle const& topology) {
    std::array<char, 4096> text{};
    // Without attributes: sizes of memory change with kernel versions, and this string is part of a machine's identity.
    int const written = hwloc_topology_export_synthetic(topology.get(), text.data(), text.size(),
                                                        HWLOC_TOPOLOGY_EXPORT_SYNTHETIC_FLAG_NO_ATTRS);
    return written > 0 ? text.data() : "";
}

}  // namespace

Topology read_topology() {
    Handle const topology = load();
    unsigned const version = hwloc_get_api_version();
    Topology result;
    result.source = fmt::format("hwloc {}.{}.{}", version >> 16, (version >> 8) & 0xFF, version & 0xFF);
    result.sockets = count(topology, HWLOC_OBJ_PACKAGE);
    result.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
    result.cores = count(topology, HWLOC_OBJ_CORE);
    result.processing_units = hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(topology.get()));
    result.synthetic = synthetic_form(topology);
    return result;
}

}  // namespace dlmb::record
