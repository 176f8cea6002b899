// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "launch/torch/executor.hpp"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

namespace dlmb::torch {

/// Shared with the thread, which may outlive the executor.
struct Executor::State {
    mutable std::mutex mutex;
    std::condition_variable something;  // to do
    mutable std::condition_variable nothing;
    std::deque<Job> jobs;
    bool busy = false;  // a job runs, or something is polled
    bool stopping = false;
    bool abandoned = false;
    std::vector<Poll> polls;  // of the thread

    void serve() {
        while (true) {
            Job job;
            {
                std::unique_lock lock(mutex);
                busy = !polls.empty();
                if (!busy) {
                    if (jobs.empty()) {
                        nothing.notify_all();
                    }
                    something.wait(lock, [this] { return !jobs.empty() || stopping || abandoned; });
                }
                if (abandoned) {
                    return;
                }
                if (!jobs.empty()) {
                    job = std::move(jobs.front());
                    jobs.pop_front();
                    busy = true;
                } else if (!busy) {
                    return;
                }
            }
            if (job) {
                job();
            } else {
                std::this_thread::yield();
            }
            std::erase_if(polls, [](Poll const& poll) { return poll(); });
        }
    }
};

Executor::Executor() : state_(std::make_shared<State>()), thread_([state = state_] { state->serve(); }) {}

Executor::~Executor() {
    {
        std::scoped_lock const lock(state_->mutex);
        state_->stopping = true;
    }
    state_->something.notify_one();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Executor::submit(Job job) {
    {
        std::scoped_lock const lock(state_->mutex);
        if (state_->abandoned) {
            return;
        }
        state_->jobs.push_back(std::move(job));
    }
    state_->something.notify_one();
}

void Executor::run(Job const& job) {
    // The thread's alone: it may still return when its result is there, and the future ends where it is discarded.
    auto task = std::make_shared<std::packaged_task<void()>>(job);
    std::future<void> done = task->get_future();
    submit([task = std::move(task)] { (*task)(); });
    done.get();
}

void Executor::poll(Poll poll) {
    state_->polls.push_back(std::move(poll));
}

bool Executor::idle_within(std::chrono::milliseconds limit) const {
    std::unique_lock lock(state_->mutex);
    return state_->nothing.wait_for(lock, limit, [this] { return state_->jobs.empty() && !state_->busy; });
}

void Executor::abandon() {
    std::deque<Job> discarded;  // what they hold is destroyed without the lock
    {
        std::scoped_lock const lock(state_->mutex);
        state_->abandoned = true;
        discarded.swap(state_->jobs);
    }
    state_->something.notify_one();
    thread_.detach();
}

}  // namespace dlmb::torch
