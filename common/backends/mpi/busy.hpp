// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Steps that only take time.
#pragma once

#include "common/backend_kit/device_compute.hpp"
#include "common/backend_kit/host_compute.hpp"
#include "common/base/idle.hpp"

namespace dlmb::mpi {

class Busy {
public:
    explicit Busy(Compute const& step) : compute_(step) {}
    void start() { compute_.start(); }
    void wait();
    [[nodiscard]] bool test() { return compute_.test(); }

private:
    HostCompute compute_;
};

/// On the device, where the payload is.
class DeviceBusy {
public:
    /// `queue` outlives this.
    DeviceBusy(Compute const& step, DeviceQueue const& queue, Idle idle)
        : compute_(step), queue_(&queue), idle_(idle) {}
    void start();
    void wait();
    [[nodiscard]] bool test() { return done_.reached(); }

private:
    DeviceCompute compute_;
    DeviceQueue const* queue_;
    DeviceEvent done_;
    Idle idle_;
};

}  // namespace dlmb::mpi
