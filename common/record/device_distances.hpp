// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How far GPUs are from where a rank may run. Two implementations, picked by CMake: with hwloc, and by NUMA nodes
// alone.
#pragma once

#include "common/memory/devices.hpp"
#include "common/record/machine.hpp"

#include <vector>

namespace dlmb::record {

/// By device: processing units of the smallest part of this node (core, NUMA node, package, machine ...) that holds the
/// rank's units and the device's place among the buses. Less is nearer; only comparable within one call. Without hwloc
/// 0 on the rank's only NUMA node and 1 elsewhere. All alike for a rank that may run anywhere.
[[nodiscard]] std::vector<int> device_distances(Affinity const& rank, std::vector<Device> const& devices);

}  // namespace dlmb::record
