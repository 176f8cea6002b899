// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pinned host memory in which buffers of a device have their image: same size, same offsets.
#pragma once

#include "common/backend_kit/backend.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlmb::mpi {

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
