// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/record/hwloc/tree.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

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

HwlocTree load(hwloc_type_filter_e devices) {
    hwloc_topology_t raw = nullptr;
    check(hwloc_topology_init(&raw), "hwloc_topology_init");
    HwlocTree tree(raw, hwloc_topology_destroy);
    check(hwloc_topology_set_io_types_filter(raw, devices), "hwloc_topology_set_io_types_filter");
    check(hwloc_topology_load(raw), "hwloc_topology_load");
    return tree;
}

}  // namespace

HwlocTree load_tree() {
    return load(HWLOC_TYPE_FILTER_KEEP_NONE);
}

HwlocTree load_tree_with_devices() {
    return load(HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
}

}  // namespace dlmb::record
