// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The GPUs that this process sees.
#pragma once

#include "common/base/units.hpp"

#include <string>
#include <vector>

namespace dlmb {

struct Device {
    int index = 0;  // as CUDA counts them in this process
    std::string name;
    std::string pci_bus_id;  // "0000:1b:00.0"
    int numa_node = -1;      // of the host; -1: the system does not say
    Bytes memory = 0;
    Bytes cache = 0;                 // level 2
    std::string compute_capability;  // "9.0"
    std::vector<int> peers;          // indices of the devices whose memory it can address
};

struct Devices {
    std::vector<Device> list;
    std::string why_none;         // empty when there is one
    std::string runtime_version;  // "13.0"; empty in a build without CUDA
    std::string driver_version;   // the newest CUDA that the driver serves
};

[[nodiscard]] Devices find_devices();
[[nodiscard]] int numa_node_of_device(int index);  // as Device::numa_node

/// The calling thread works on it from now on.
void use_device(int index);
[[nodiscard]] Bytes free_device_memory();  // of the device that the calling thread works on, whoever uses the rest

/// Which device each local rank uses: by local rank the nearest one that no earlier rank took; with more ranks than
/// devices they take turns. `distances[rank][device]`: less is nearer.
[[nodiscard]] std::vector<int> assign_devices(std::vector<std::vector<int>> const& distances);

}  // namespace dlmb
