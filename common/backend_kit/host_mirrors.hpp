// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers of a device that hold many small pieces are filled and checked in a copy on the host, which one transfer
// brings: a kernel or a transfer for each piece would cost about 30 us.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/backend_kit/payload_layout.hpp"
#include "common/memory/host_space.hpp"

#include <vector>

namespace dlmb {

class HostMirrors {
public:
    /// References are kept.
    HostMirrors(MemorySpace& memory, Buffers const& buffers, Plan const& plan, PayloadLayout const& layout);
    HostMirrors(HostMirrors&&) = default;
    HostMirrors& operator=(HostMirrors&&) = delete;
    HostMirrors(HostMirrors const&) = delete;
    HostMirrors& operator=(HostMirrors const&) = delete;
    ~HostMirrors() = default;

    /// Until release() a buffer that has a copy is that copy: it is read and written there.
    void fetch();
    /// Writes the copies to the device.
    void store();
    void release();

    [[nodiscard]] MemorySpace& space(BufferId buffer) { return copies_[buffer].data() == nullptr ? memory_ : host_; }
    [[nodiscard]] std::byte* base(BufferId buffer) const {
        return copies_[buffer].data() == nullptr ? buffers_.base[buffer] : copies_[buffer].data();
    }

private:
    MemorySpace& memory_;
    Buffers const& buffers_;
    HostSpace host_;
    std::vector<Bytes> bytes_;        // by buffer; 0: it has no copy
    std::vector<Allocation> copies_;  // by buffer
};

}  // namespace dlmb
