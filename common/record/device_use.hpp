// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which GPU this rank works on, as whoever chose it tells the record.
#pragma once

#include "common/memory/devices.hpp"

#include <optional>
#include <string>

namespace dlmb::record {

struct DeviceUse {
    std::optional<Device> device;  // nothing: this rank sees none
    std::string reason;            // why this one; empty without a device
    std::string runtime_version;   // of CUDA, "13.0"; empty in a build without it
    std::string driver_version;    // the newest CUDA that the driver serves, or "none"
};

}  // namespace dlmb::record
