// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fakes/gpu/queue.hpp"

#include <thread>
#include <utility>
#include <vector>

namespace dlmb::fake_gpu {
namespace {

struct Queues {
    std::mutex mutex;
    std::vector<std::weak_ptr<Queue>> all;
};

Queues& queues() {
    static auto* const only = new Queues;
    return *only;
}

}  // namespace

std::shared_ptr<Queue> Queue::start() {
    auto queue = std::make_shared<Queue>();
    {
        std::lock_guard const lock(queues().mutex);
        std::erase_if(queues().all, [](auto const& known) { return known.expired(); });
        queues().all.push_back(queue);
    }
    std::thread([queue] { queue->run(); }).detach();
    return queue;
}

void Queue::push(Work work) {
    {
        std::lock_guard const lock(mutex_);
        waiting_.push_back(std::move(work));
    }
    changed_.notify_all();
}

bool Queue::idle() {
    std::lock_guard const lock(mutex_);
    return waiting_.empty() && !working_;
}

void Queue::drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !working_; });
}

void Queue::close() {
    {
        std::lock_guard const lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

void Queue::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !waiting_.empty() || closed_; });
        if (waiting_.empty()) {
            return;
        }
        {
            Work const work = std::exchange(waiting_.front(), nullptr);
            waiting_.pop_front();
            working_ = true;
            lock.unlock();
            work();
        }
        lock.lock();
        working_ = false;
        changed_.notify_all();
    }
}

void drain_all_queues() {
    std::vector<std::shared_ptr<Queue>> living;
    {
        std::lock_guard const lock(queues().mutex);
        for (auto const& known : queues().all) {
            if (auto queue = known.lock()) {
                living.push_back(std::move(queue));
            }
        }
    }
    for (auto const& queue : living) {
        queue->drain();
    }
}

}  // namespace dlmb::fake_gpu
