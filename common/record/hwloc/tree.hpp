// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This node as hwloc sees it: limits of containers and jobs are already applied.
#pragma once

#include <hwloc.h>

#include <memory>

namespace dlmb::record {

using HwlocTree = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// Processors and memory. Throws Error.
[[nodiscard]] HwlocTree load_tree();
/// And PCI devices of the classes that hwloc deems important, with the bridges above them. Slower: it reads PCI buses.
[[nodiscard]] HwlocTree load_tree_with_devices();

}  // namespace dlmb::record
