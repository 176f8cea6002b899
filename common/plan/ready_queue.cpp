// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/ready_queue.hpp"

namespace dlmb {

ReadyQueue::Successors::Successors(std::vector<std::vector<std::uint32_t>> const& predecessors)
    : first(predecessors.size() + 1, 0) {
    for (std::vector<std::uint32_t> const& each : predecessors) {
        for (std::uint32_t const task : each) {
            ++first[task + std::size_t{1}];
        }
    }
    for (std::size_t task = 1; task < first.size(); ++task) {
        first[task] += first[task - 1];
    }
    tasks.resize(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t later = 0; later < predecessors.size(); ++later) {
        for (std::uint32_t const task : predecessors[later]) {
            tasks[next[task]++] = static_cast<std::uint32_t>(later);
        }
    }
}

ReadyQueue::ReadyQueue(Precedence const& precedence)
    : after_completion_(precedence.complete), after_start_(precedence.started) {
    for (std::size_t task = 0; task < precedence.complete.size(); ++task) {
        waits_.push_back(
            static_cast<std::uint32_t>(precedence.complete[task].size() + precedence.started[task].size()));
    }
    left_.reserve(waits_.size());
    ready_.reserve(waits_.size());
}

void ReadyQueue::begin() {
    left_.assign(waits_.begin(), waits_.end());
    ready_.clear();
    taken_ = 0;
    completed_ = 0;
    for (std::uint32_t task = 0; task < waits_.size(); ++task) {
        if (waits_[task] == 0) {
            ready_.push_back(task);
        }
    }
}

}  // namespace dlmb
