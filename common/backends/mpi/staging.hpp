// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the steps of a plan whose payload is on a device and whose native calls see host memory only.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/memory/device_queue.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlmb::mpi {

/// The queues of one device that a backend's plans share: what is in different queues can happen at the same time.
struct DeviceQueues {
    DeviceQueue to_host;
    DeviceQueue to_device;
    DeviceQueue within;   // copies from device memory to device memory
    DeviceQueue compute;  // Compute steps, one after the other
};

/// Steps whose native calls must keep their order (one communicator, one channel to one peer) take turns: a step makes
/// its first call when the one that was started before has made its last.
struct StagingTurn {
    std::uint64_t taken = 0;
    std::uint64_t passed = 0;
};

/// One turn for steps that must start in order; each of them follows at most one.
[[nodiscard]] std::vector<std::shared_ptr<StagingTurn>> turns_of(Plan const& plan);

/// Host addresses by BufferId; the memory lives as long as this.
struct HostImages {
    Buffers host{MemoryKind::pinned, {}};
    std::vector<std::shared_ptr<Allocation>> memory;
};

/// Plans on the same device buffers (draws, methods) share their images: they never run at the same time.
class StagingBuffers {
public:
    /// For `local_ranks` that ask for as much. Nothing, with the reason in `why_not`, when this node's memory does not
    /// suffice.
    [[nodiscard]] HostImages of(Plan const& plan, Buffers const& device, int local_ranks, std::string& why_not);
    /// Pinned now.
    [[nodiscard]] Bytes bytes() const;

private:
    [[nodiscard]] std::shared_ptr<Allocation> find(std::byte const* device, Bytes bytes) const;

    std::unique_ptr<MemorySpace> pinned_;
    std::map<std::byte const*, std::weak_ptr<Allocation>> images_;  // by device address, the largest made
};

}  // namespace dlmb::mpi
