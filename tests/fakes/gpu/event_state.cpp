// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/event_state.hpp"

#include <algorithm>
#include <chrono>

namespace dlmb::fake_gpu {

std::uint64_t EventState::issue() {
    std::lock_guard const lock(mutex_);
    return ++issued_;
}

std::uint64_t EventState::last_issued() {
    std::lock_guard const lock(mutex_);
    return issued_;
}

void EventState::reach(std::uint64_t record) {
    {
        std::lock_guard const lock(mutex_);
        reached_ = std::max(reached_, record);
        time_ns_ = std::chrono::steady_clock::now().time_since_epoch().count();
    }
    changed_.notify_all();
}

void EventState::wait(std::uint64_t record) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= record; });
}

bool EventState::is_reached() {
    std::lock_guard const lock(mutex_);
    return reached_ >= issued_;
}

std::int64_t EventState::time_ns() {
    std::lock_guard const lock(mutex_);
    return time_ns_;
}

}  // namespace dlmb::fake_gpu
