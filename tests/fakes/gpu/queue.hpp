// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Work that a thread does in order while others go on: what is behind a stream.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace dlmb::fake_gpu {

using Work = std::function<void()>;

class Queue {
public:
    /// Its thread lives until close() was called and everything is done.
    [[nodiscard]] static std::shared_ptr<Queue> start();
    void push(Work work);
    [[nodiscard]] bool idle();
    void drain();
    void close();

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Work> waiting_;
    bool working_ = false;
    bool closed_ = false;
};

/// Waits until every queue of this process has nothing left to do.
void drain_all_queues();

}  // namespace dlmb::fake_gpu
