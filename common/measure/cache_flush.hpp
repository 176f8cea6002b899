// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Fills the caches with something else. It reads: written lines would have to be written back while a sample runs.
#pragma once

#include "common/memory/memory_space.hpp"

namespace dlmb::measure {

class CacheFlush {
public:
    /// Memory of twice the cache, of the same kind as the payload's: a device's is swept by the device. `memory` must
    /// outlive it. Throws Error when there is not enough.
    CacheFlush(MemorySpace& memory, Bytes cache_bytes);

    /// This rank's caches. Takes about as long as reading so much memory.
    void sweep();
    [[nodiscard]] Bytes bytes() const { return swept_.bytes(); }
    [[nodiscard]] static constexpr Bytes bytes_for(Bytes cache_bytes) { return 2 * cache_bytes; }

private:
    MemorySpace& memory_;
    Allocation swept_;
};

}  // namespace dlmb::measure
