// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/pinned_memory.hpp"

#include <map>
#include <mutex>

namespace dlmb::fake_gpu {
namespace {

struct Pinned {
    std::mutex mutex;
    std::map<std::byte const*, std::size_t> ranges;
};

Pinned& pinned() {
    static auto* const only = new Pinned;
    return *only;
}

}  // namespace

bool pin(void* data, std::size_t bytes) {
    Pinned& all = pinned();
    std::lock_guard const lock(all.mutex);
    auto const* const begin = static_cast<std::byte*>(data);
    auto const next = all.ranges.lower_bound(begin);
    bool const free_after = next == all.ranges.end() || begin + bytes <= next->first;
    bool const free_before = next == all.ranges.begin() || std::prev(next)->first + std::prev(next)->second <= begin;
    if (bytes == 0 || !free_after || !free_before) {
        return false;
    }
    all.ranges[begin] = bytes;
    return true;
}

bool unpin(void* data) {
    Pinned& all = pinned();
    std::lock_guard const lock(all.mutex);
    return all.ranges.erase(static_cast<std::byte*>(data)) == 1;
}

bool is_pinned(void const* data, std::size_t bytes) {
    Pinned& all = pinned();
    std::lock_guard const lock(all.mutex);
    auto const* const begin = static_cast<std::byte const*>(data);
    auto const next = all.ranges.upper_bound(begin);
    return next != all.ranges.begin() && begin + bytes <= std::prev(next)->first + std::prev(next)->second;
}

}  // namespace dlmb::fake_gpu
