// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/staged.hpp"

#include <algorithm>

namespace dlmb::mpi {

Staged::Staged(std::vector<StagedPart> parts, SelfCopy self, DeviceQueues const& queues, std::shared_ptr<Turn> turn,
               Idle idle)
    : parts_(std::move(parts)), self_(std::move(self)), queues_(&queues), turn_(std::move(turn)), idle_(idle) {}

void Staged::wait() {
    while (!test()) {
        idle_();
    }
}

// All copies to the host at once: the queue does them in order, and each part has memory of its own there.
void Staged::start() {
    ticket_ = turn_->taken++;
    current_ = 0;
    called_ = false;
    self_.start();
    for (StagedPart& part : parts_) {
        for (HostCopy const& copy : part.to_host) {
            queues_->to_host.copy(copy.to, copy.from, copy.bytes);
        }
        if (!part.to_host.empty()) {
            part.on_host.record(queues_->to_host);
        }
    }
}

bool Staged::test() {
    while (current_ < parts_.size()) {
        if (!call_made() || !std::visit([](auto& task) { return task.test(); }, parts_[current_].call)) {
            return false;
        }
        copy_back();
        ++current_;
        called_ = false;
    }
    return delivered_.reached() && self_.test();
}

/// Makes the call of the current part as soon as that may be.
bool Staged::call_made() {
    StagedPart& part = parts_[current_];
    if (!called_ && turn_->passed == ticket_ && part.on_host.reached()) {
        std::visit([](auto& task) { task.start(); }, part.call);
        called_ = true;
        turn_->passed += current_ + 1 == parts_.size() ? 1U : 0U;
    }
    return called_;
}

void Staged::copy_back() {
    StagedPart const& part = parts_[current_];
    for (HostCopy const& copy : part.to_device) {
        queues_->to_device.copy(copy.to, copy.from, copy.bytes);
    }
    if (!part.to_device.empty()) {
        delivered_.record(queues_->to_device);
    }
}

}  // namespace dlmb::mpi
