// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A step on device memory whose native calls see host memory only. It is cut into parts: while one is communicated, the
// next is copied to the host and the one before is copied back to the device.
#pragma once

#include "common/backends/mpi/device_queues.hpp"
#include "common/backends/mpi/native_task.hpp"
#include "common/base/idle.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace dlmb::mpi {

/// Steps whose native calls must keep their order (one communicator, one channel to one peer) take turns: a step makes
/// its first call when the one that was started before has made its last.
struct Turn {
    std::uint64_t taken = 0;
    std::uint64_t passed = 0;
};

struct HostCopy {
    std::byte* to = nullptr;
    std::byte const* from = nullptr;
    Bytes bytes = 0;
};

struct StagedPart {
    std::vector<HostCopy> to_host;
    NativeTask call;
    std::vector<HostCopy> to_device;
    DeviceEvent on_host;  // never recorded where nothing is copied, and then always reached
};

class Staged {
public:
    /// At least one part. `self`: what stays on the device. `queues` outlive this.
    Staged(std::vector<StagedPart> parts, SelfCopy self, DeviceQueues const& queues, std::shared_ptr<Turn> turn,
           Idle idle);
    void start();
    void wait();
    [[nodiscard]] bool test();

private:
    [[nodiscard]] bool call_made();
    void copy_back();

    std::vector<StagedPart> parts_;
    SelfCopy self_;
    DeviceQueues const* queues_;
    std::shared_ptr<Turn> turn_;
    Idle idle_;
    DeviceEvent delivered_;
    std::uint64_t ticket_ = 0;
    std::size_t current_ = 0;  // part
    bool called_ = false;      // its native call is made
};

}  // namespace dlmb::mpi
