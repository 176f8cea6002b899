// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/device_distances.hpp"

#include "common/base/error.hpp"
#include "common/record/hwloc/tree.hpp"

namespace dlmb::record {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Bitmap make_bitmap() {
    Bitmap bitmap(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    if (bitmap == nullptr) {
        throw Error("hwloc_bitmap_alloc: no memory");
    }
    return bitmap;
}

/// The part of the machine that the device's bus belongs to; all of it where that is not known.
hwloc_obj_t place_of(hwloc_topology_t tree, Device const& device) {
    hwloc_obj_t const pci = hwloc_get_pcidev_by_busidstring(tree, device.pci_bus_id.c_str());
    return pci == nullptr ? hwloc_get_root_obj(tree) : hwloc_get_non_io_ancestor_obj(tree, pci);
}

}  // namespace

std::vector<int> device_distances(Affinity const& rank, std::vector<Device> const& devices) {
    HwlocTree const tree = load_tree_with_devices();
    hwloc_obj_t const machine = hwloc_get_root_obj(tree.get());
    std::vector<int> distances;
    for (Device const& device : devices) {
        Bitmap const both = make_bitmap();
        for (int const unit : rank.units) {
            hwloc_bitmap_set(both.get(), static_cast<unsigned>(unit));
        }
        hwloc_bitmap_or(both.get(), both.get(), place_of(tree.get(), device)->cpuset);
        hwloc_obj_t const smallest = hwloc_get_obj_covering_cpuset(tree.get(), both.get());
        distances.push_back(hwloc_bitmap_weight((smallest == nullptr ? machine : smallest)->cpuset));
    }
    return distances;
}

}  // namespace dlmb::record
