// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The queues of one device that a backend's plans share: what is in different queues can happen at the same time.
#pragma once

#include "common/memory/device_queue.hpp"

namespace dlmb::mpi {

struct DeviceQueues {
    DeviceQueue to_host;
    DeviceQueue to_device;
    DeviceQueue within;   // copies from device memory to device memory
    DeviceQueue compute;  // Compute steps, one after the other
};

}  // namespace dlmb::mpi
