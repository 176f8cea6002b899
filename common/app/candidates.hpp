// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The cells of one point: which (backend, method) pairs are asked for and still to be measured.
#pragma once

#include "common/app/launch_context.hpp"
#include "common/app/sweep.hpp"

#include <string>
#include <vector>

namespace dlmb::app {

/// Draws that a launch compiles of this traffic.
[[nodiscard]] std::uint32_t draws_of(Pattern const& pattern, Options const& options);

/// One cell to be measured. `backend` stays owned by the launch.
struct Entry {
    record::Record cell;
    Backend* backend = nullptr;
    MethodChoice method;
};

/// Throws UsageError for a requested method that none of the usable backends has.
void check_methods(std::span<RequestedBackend const> backends, Options const& options);

/// The cells that are still to be measured; those that cannot run here are reported as skipped, those that the results
/// file holds are counted as resumed.
[[nodiscard]] std::vector<Entry> open_entries(LaunchContext& launch, Variant const& variant, Pattern const& pattern,
                                              MemoryKind memory);

void report_skipped(LaunchContext& launch, Variant const& variant, Entry const& entry, std::string const& reason);

}  // namespace dlmb::app
