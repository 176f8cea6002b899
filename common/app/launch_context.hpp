// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What stays the same over all points of a launch.
#pragma once

#include "common/app/options.hpp"
#include "common/app/overlap.hpp"
#include "common/app/reporter.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dlmb::app {

/// A requested backend: made, or the reason why not.
struct RequestedBackend {
    std::string name;
    std::shared_ptr<Backend> backend;  // nullptr: `why_not` says it
    std::string why_not;
};

struct LaunchContext {
    Bootstrap& bootstrap;
    PatternType const& type;
    Options const& options;
    WorldShape world;
    std::vector<RequestedBackend>& backends;
    std::set<std::string> finished_cells;  // of the results file, with --resume
    Reporter& reporter;
    measure::Watchdog& watchdog;
    measure::CommonStart& start;
    record::DeviceUse const& device;  // of this rank
    Throttling const* throttling;     // of that device; nullptr: there is none
    Bytes host_cache = 0;             // largest of a processor on any node; 0: unknown
    std::vector<int> numa_nodes;      // of the processing units that this rank may run on
    Overlap overlap{type};
};

/// Collective. nullptr with a reason unless every rank has this memory.
[[nodiscard]] std::unique_ptr<MemorySpace> memory_on_all_ranks(Bootstrap& bootstrap, MemoryKind kind,
                                                               std::string& why_not);

}  // namespace dlmb::app
