// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/nearby_nics.hpp"

#include "common/record/hwloc/tree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace dlmb::record {
namespace {

std::string bus_id(hwloc_obj_t device) {
    auto const& pci = device->attr->pcidev;
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

bool is_network(hwloc_obj_t software_device) {
    auto const type = software_device->attr->osdev.type;
    return type == HWLOC_OBJ_OSDEV_NETWORK || type == HWLOC_OBJ_OSDEV_OPENFABRICS;
}

hwloc_obj_t pci_device_of(hwloc_obj_t object) {
    while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) {
        object = object->parent;
    }
    return object;
}

/// Names by PCI device; an InfiniBand adapter has one as a device and one as an interface.
std::map<hwloc_obj_t, std::string> find_nics(hwloc_topology_t tree) {
    std::map<hwloc_obj_t, std::string> nics;
    for (hwloc_obj_t each = hwloc_get_next_osdev(tree, nullptr); each != nullptr;
         each = hwloc_get_next_osdev(tree, each)) {
        hwloc_obj_t const device = pci_device_of(each);
        if (is_network(each) && device != nullptr) {
            std::string& names = nics[device];
            names += (names.empty() ? "" : " ") + std::string(each->name);
        }
    }
    return nics;
}

std::vector<hwloc_obj_t> way_up(hwloc_obj_t object) {
    std::vector<hwloc_obj_t> way;
    for (; object != nullptr; object = object->parent) {
        way.push_back(object);
    }
    return way;
}

std::string kind_of(hwloc_obj_t object) {
    if (object->type == HWLOC_OBJ_BRIDGE) {
        return object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST ? "host bridge" : "PCI switch";
    }
    std::string name = hwloc_obj_type_string(object->type);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

/// hwloc's own search for a common ancestor does not serve devices, which have no depth.
NearbyNic describe(hwloc_obj_t nic, std::string const& names, std::vector<hwloc_obj_t> const& way_of_gpu) {
    std::vector<hwloc_obj_t> const way = way_up(nic);
    auto const meeting = std::find_first_of(way.begin(), way.end(), way_of_gpu.begin(), way_of_gpu.end());
    auto const from_gpu = std::find(way_of_gpu.begin(), way_of_gpu.end(), *meeting) - way_of_gpu.begin();
    return {names, bus_id(nic), static_cast<int>(from_gpu + (meeting - way.begin())), kind_of(*meeting)};
}

}  // namespace

std::vector<NearbyNic> nearby_nics(std::string const& pci_bus_id) {
    HwlocTree const tree = load_tree_with_devices();
    hwloc_obj_t const gpu = hwloc_get_pcidev_by_busidstring(tree.get(), pci_bus_id.c_str());
    std::vector<NearbyNic> nics;
    if (gpu == nullptr) {
        return nics;
    }
    std::vector<hwloc_obj_t> const way_of_gpu = way_up(gpu);
    for (auto const& [nic, names] : find_nics(tree.get())) {
        nics.push_back(describe(nic, names, way_of_gpu));
    }
    std::sort(nics.begin(), nics.end(), [](NearbyNic const& a, NearbyNic const& b) {
        return std::pair(a.hops, a.pci_bus_id) < std::pair(b.hops, b.pci_bus_id);
    });
    return nics;
}

}  // namespace dlmb::record
