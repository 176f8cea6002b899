// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This node as hwloc sees it: limits of containers and jobs are already applied.
#include "common/base/error.hpp"
#include "common/base/lower_case.hpp"
#include "common/measure/environment/machine.hpp"

#include <fmt/core.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>

namespace dlmb::measure {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;
using HwlocTree = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

void check(int code, std::string_view call) {
    if (code != 0) {
        throw Error(fmt::format("{} returned {}", call, code));
    }
}
template <class T>
void check(T, std::string_view) = delete;

/// Processors and memory; or also PCI devices of the classes that hwloc deems important, with the bridges above them,
/// which is slower: it reads PCI buses.
HwlocTree load(hwloc_type_filter_e devices) {
    hwloc_topology_t raw = nullptr;
    check(hwloc_topology_init(&raw), "hwloc_topology_init");
    HwlocTree tree(raw, hwloc_topology_destroy);
    check(hwloc_topology_set_io_types_filter(raw, devices), "hwloc_topology_set_io_types_filter");
    check(hwloc_topology_load(raw), "hwloc_topology_load");
    return tree;
}
constexpr auto without_devices = HWLOC_TYPE_FILTER_KEEP_NONE;
constexpr auto with_devices = HWLOC_TYPE_FILTER_KEEP_IMPORTANT;

int count(HwlocTree const& topology, hwloc_obj_type_t type) {
    return std::max(0, hwloc_get_nbobjs_by_type(topology.get(), type));
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

/// The part of the machine that the device's bus belongs to; all of it where that is not known.
hwloc_obj_t place_of(hwloc_topology_t tree, Device const& device) {
    hwloc_obj_t const pci = hwloc_get_pcidev_by_busidstring(tree, device.pci_bus_id.c_str());
    return pci == nullptr ? hwloc_get_root_obj(tree) : hwloc_get_non_io_ancestor_obj(tree, pci);
}

std::string bus_id(hwloc_obj_t device) {
    auto const& pci = device->attr->pcidev;
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

bool is_network(hwloc_obj_t software_device) {
    auto const type = software_device->attr->osdev.type;
    return type == HWLOC_OBJ_OSDEV_NETWORK || type == HWLOC_OBJ_OSDEV_OPENFABRICS;
}

/// Names by PCI device; an InfiniBand adapter has one as a device and one as an interface.
std::map<hwloc_obj_t, std::string> find_nics(hwloc_topology_t tree) {
    std::map<hwloc_obj_t, std::string> nics;
    for (hwloc_obj_t each = hwloc_get_next_osdev(tree, nullptr); each != nullptr;
         each = hwloc_get_next_osdev(tree, each)) {
        hwloc_obj_t const device = hwloc_get_ancestor_obj_by_type(tree, HWLOC_OBJ_PCI_DEVICE, each);
        if (is_network(each) && device != nullptr) {
            std::string& names = nics[device];
            names += (names.empty() ? "" : " ") + std::string(each->name == nullptr ? "without_name" : each->name);
        }
    }
    return nics;
}

std::vector<hwloc_obj_t> with_ancestors(hwloc_obj_t object) {
    std::vector<hwloc_obj_t> path;
    for (; object != nullptr; object = object->parent) {
        path.push_back(object);
    }
    return path;
}

std::string kind_of(hwloc_obj_t object) {
    if (object->type == HWLOC_OBJ_BRIDGE) {
        return object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST ? "host bridge" : "PCI switch";
    }
    return lower_case(hwloc_obj_type_string(object->type));
}

/// hwloc's own search for a common ancestor does not serve devices, which have no depth.
NearbyNic describe(hwloc_obj_t nic, std::string const& names, std::vector<hwloc_obj_t> const& gpu_ancestors) {
    std::vector<hwloc_obj_t> const nic_ancestors = with_ancestors(nic);
    auto const common =
        std::find_first_of(nic_ancestors.begin(), nic_ancestors.end(), gpu_ancestors.begin(), gpu_ancestors.end());
    auto const from_gpu = std::find(gpu_ancestors.begin(), gpu_ancestors.end(), *common) - gpu_ancestors.begin();
    return {names, bus_id(nic), static_cast<int>(from_gpu + (common - nic_ancestors.begin())), kind_of(*common)};
}

}  // namespace

Topology read_topology() {
    HwlocTree const topology = load(without_devices);
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

std::vector<int> device_distances(Affinity const& rank, std::vector<Device> const& devices) {
    HwlocTree const tree = load(with_devices);
    hwloc_obj_t const machine = hwloc_get_root_obj(tree.get());
    std::vector<int> distances;
    for (Device const& device : devices) {
        Bitmap const both(hwloc_bitmap_dup(place_of(tree.get(), device)->cpuset), hwloc_bitmap_free);
        if (both == nullptr) {
            throw Error("hwloc_bitmap_dup: no memory");
        }
        for (int const unit : rank.units) {
            check(hwloc_bitmap_set(both.get(), static_cast<unsigned>(unit)), "hwloc_bitmap_set");
        }
        hwloc_obj_t const smallest = hwloc_get_obj_covering_cpuset(tree.get(), both.get());
        distances.push_back(hwloc_bitmap_weight((smallest == nullptr ? machine : smallest)->cpuset));
    }
    return distances;
}

std::vector<NearbyNic> nearby_nics(std::string const& pci_bus_id) {
    HwlocTree const tree = load(with_devices);
    hwloc_obj_t const gpu = hwloc_get_pcidev_by_busidstring(tree.get(), pci_bus_id.c_str());
    std::vector<NearbyNic> nics;
    if (gpu == nullptr) {
        return nics;
    }
    std::vector<hwloc_obj_t> const gpu_ancestors = with_ancestors(gpu);
    for (auto const& [nic, names] : find_nics(tree.get())) {
        nics.push_back(describe(nic, names, gpu_ancestors));
    }
    std::sort(nics.begin(), nics.end(), [](NearbyNic const& a, NearbyNic const& b) {
        return std::pair(a.hops, a.pci_bus_id) < std::pair(b.hops, b.pci_bus_id);
    });
    return nics;
}

}  // namespace dlmb::measure
