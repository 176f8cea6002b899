// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/cache_flush.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb::measure {

CacheFlush::CacheFlush(MemorySpace& memory, Bytes cache_bytes)
    : memory_(memory), swept_(memory.allocate(bytes_for(cache_bytes))) {
    memory_.fill(swept_.data(), swept_.bytes(), guard_key);
}

void CacheFlush::sweep() {
    if (auto const wrong = memory_.check(swept_.data(), swept_.bytes(), guard_key)) {
        throw Error(fmt::format("byte {} of the memory that flushes the caches was overwritten", wrong->offset));
    }
}

}  // namespace dlmb::measure
