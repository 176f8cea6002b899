// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The block of an exchange that stays on its rank.
#pragma once

#include "common/memory/device_queue.hpp"

#include <cstddef>
#include <optional>

namespace dlmb::mpi {

/// Host memory is copied by the host when start() is called, device memory by a queue of the device.
class SelfCopy {
public:
    SelfCopy() = default;  // nothing to copy
    /// `queue`: nullptr for host memory; otherwise outlives this.
    SelfCopy(std::byte* to, std::byte const* from, Bytes bytes, DeviceQueue const* queue);

    void start();
    [[nodiscard]] bool test() const { return !done_ || done_->reached(); }
    void wait() const {
        while (!test()) {
        }
    }

private:
    std::byte* to_ = nullptr;
    std::byte const* from_ = nullptr;
    Bytes bytes_ = 0;
    DeviceQueue const* queue_ = nullptr;
    std::optional<DeviceEvent> done_;  // on a device
};

}  // namespace dlmb::mpi
