// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// On what a launch ran: enough to say whether two launches may be compared, and nothing that should not be in a file
// that is passed on (variables.hpp).
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/record/environment.hpp"
#include "common/memory/devices.hpp"

#include <optional>
#include <string>

namespace dlmb::measure {

/// The GPU that was chosen for this rank.
struct DeviceUse {
    std::optional<Device> device;  // nothing: this rank sees none
    std::string reason;            // why this one; empty without a device
    std::string runtime_version;   // of CUDA, "13.0"; empty in a build without it
    std::string driver_version;    // the newest CUDA that the driver serves, or "none"
};

/// Collective, O(ranks). Equal on all ranks: facts of the machine are those of rank 0's node, and a node that differs
/// is named in the warnings.
[[nodiscard]] record::Environment capture_environment(Bootstrap& bootstrap, DeviceUse const& device = {});

}  // namespace dlmb::measure
