// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which GPU this rank works on. Decided once per launch, before anything is allocated.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/measure/environment/capture.hpp"

#include <span>
#include <vector>

namespace dlmb::run {

/// Collective. The calling thread works on the chosen device from now on; without a device nothing happens. `requested`
/// (--device): the local ranks take these indices in turn; empty: the nearest device. Throws UsageError alike on all
/// ranks for an index that one of them does not see.
[[nodiscard]] measure::DeviceUse adopt_device(Bootstrap& bootstrap, std::span<int const> requested);

/// For a launch on host memory: taking a device would cost memory of it, and fail where it is exclusive to a process.
[[nodiscard]] measure::DeviceUse adopt_no_device();

/// Collective: the choice alone, among `devices`, which are this far from the rank (measure/environment/machine.hpp).
/// Ranks share a choice with those of their node that see the same devices: a launcher may give each rank devices of
/// its own.
[[nodiscard]] measure::DeviceUse choose_device(Bootstrap& bootstrap, Devices const& devices,
                                               std::vector<int> const& distances, std::span<int const> requested);

}  // namespace dlmb::run
