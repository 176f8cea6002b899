// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What an event knows: how often it was recorded, and how many of these points have been reached.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dlmb::fake_gpu {

class EventState {
public:
    /// The number of a new record, to be reached.
    [[nodiscard]] std::uint64_t issue();
    [[nodiscard]] std::uint64_t last_issued();
    void reach(std::uint64_t record);
    void wait(std::uint64_t record);
    /// All that was issued is reached; true before the first.
    [[nodiscard]] bool is_reached();
    /// On the steady clock; of the last record that was reached.
    [[nodiscard]] std::int64_t time_ns();

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t issued_ = 0;
    std::uint64_t reached_ = 0;
    std::int64_t time_ns_ = 0;
};

}  // namespace dlmb::fake_gpu
