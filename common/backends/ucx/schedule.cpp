// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/schedule.hpp"

#include "common/backends/ucx/tag.hpp"

#include <algorithm>

namespace dlmb::ucx {

Schedule::Schedule(std::vector<Wave> waves, std::size_t steps, std::unique_ptr<OperationRange> operations,
                   Transport& transport)
    : CompiledPlan(steps), operations_(std::move(operations)), waves_(std::move(waves)), transport_(transport) {
    std::size_t widest = 0;
    for (Wave const& wave : waves_) {
        widest = std::max(widest, wave.size());
    }
    open_.reserve(widest);
}

void Schedule::launch() {
    begin();
    ++iteration_;
    wave_ = 0;
    start_wave();
}

void Schedule::finish() {
    for (; wave_ < waves_.size(); ++wave_, start_wave()) {
        while (!poll_wave()) {
            transport_.progress_or_idle();
        }
    }
}

void Schedule::start_wave() {
    if (wave_ == waves_.size()) {
        return;
    }
    for (std::unique_ptr<Lane> const& lane : waves_[wave_]) {
        lane->start(iteration_bits(iteration_));
        open_.push_back(lane.get());
    }
}

bool Schedule::poll_wave() {
    for (std::size_t i = 0; i < open_.size();) {
        if (open_[i]->poll()) {
            mark(open_[i]->step());
            open_[i] = open_.back();
            open_.pop_back();
        } else {
            ++i;
        }
    }
    return open_.empty();
}

}  // namespace dlmb::ucx
