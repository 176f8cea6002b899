// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/schedule.hpp"

#include "common/backends/ucx/provenance.hpp"
#include "common/backends/ucx/tag.hpp"

namespace dlmb::ucx {
namespace {

/// Less is done at once; more gives way to messages that are ready as well.
constexpr Bytes quick_work = Bytes{16} << 10;

}  // namespace

Schedule::Schedule(Tasks tasks, Holdings holdings, Transport& transport, Transports& transports)
    : CompiledPlan(tasks.step_names.size()), holdings_(std::move(holdings)), tasks_(std::move(tasks)),
      transport_(transport), transports_(transports), queue_(tasks_.precedence) {
    open_.reserve(tasks_.all.size());
    tasks_.precedence = {};
}

Schedule::~Schedule() {
    for (Open const& each : open_) {
        if (each.request != nullptr) {
            holdings_.messages->cancel(each.request);
        }
    }
}

Provenance Schedule::provenance() const {
    Provenance facts = provenance_of(transport_);
    facts.insert(holdings_.window_use.begin(), holdings_.window_use.end());
    return facts;
}

void Schedule::launch() {
    begin();
    iteration_bits_ = iteration_bits(++iteration_);
    queue_.begin();
    start_ready();
}

void Schedule::finish() {
    while (!queue_.done()) {
        if (poll()) {
            start_ready();
        } else {
            transport_.progress_or_idle();
        }
    }
}

void Schedule::start_ready() {
    while (auto const task = queue_.take()) {
        start(*task);
    }
}

void Schedule::start(std::uint32_t number) {
    Task const& task = tasks_.all[number];
    Open opened{number, nullptr, 0};
    switch (task.kind) {
    case Task::Kind::gate:
        return complete(number);
    case Task::Kind::lane:
        tasks_.lanes[task.index]->start(iteration_bits_);
        break;
    case Task::Kind::shared:
        tasks_.shared[task.index].start();
        if (tasks_.shared[task.index].poll()) {
            return complete(number);
        }
        break;
    case Task::Kind::send:
        opened.request = holdings_.messages->send(tasks_.transfers[task.index], iteration_bits_, name_of_step(task));
        if (opened.request == nullptr) {
            return complete(number);
        }
        break;
    case Task::Kind::receive:
        opened.request = holdings_.messages->receive(tasks_.transfers[task.index], iteration_bits_, name_of_step(task));
        break;
    case Task::Kind::work:
        if (tasks_.work[task.index].bytes <= quick_work && do_piece(tasks_.work[task.index], opened.progress)) {
            return complete(number);
        }
        break;
    case Task::Kind::compute:
        tasks_.computes[task.index].start();
        break;
    case Task::Kind::device_work:
        queue_work(holdings_.device->work.queue(), tasks_.work[task.index]);
        opened.progress = holdings_.device->work.mark();
        break;
    case Task::Kind::device_compute:
        tasks_.device_computes[task.index].start(holdings_.device->compute.queue());
        opened.progress = holdings_.device->compute.mark();
        break;
    }
    open_.push_back(opened);
}

bool Schedule::poll() {
    bool moved = false;
    for (std::size_t i = 0; i < open_.size();) {
        if (settled(open_[i])) {
            std::uint32_t const task = open_[i].task;
            open_[i] = open_.back();
            open_.pop_back();
            complete(task);
            moved = true;
        } else {
            ++i;
        }
    }
    return moved;
}

bool Schedule::settled(Open& each) {
    Task const& task = tasks_.all[each.task];
    switch (task.kind) {
    case Task::Kind::lane:
        return tasks_.lanes[task.index]->poll();
    case Task::Kind::shared:
        return tasks_.shared[task.index].poll();
    case Task::Kind::send:
        return holdings_.messages->sent(each.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::receive:
        return holdings_.messages->received(each.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::work:
        return do_piece(tasks_.work[task.index], each.progress);
    case Task::Kind::compute:
        return tasks_.computes[task.index].test();
    case Task::Kind::device_work:
        return holdings_.device->work.complete(each.progress);
    case Task::Kind::device_compute:
        return holdings_.device->compute.complete(each.progress);
    case Task::Kind::gate:
        break;
    }
    return true;
}

void Schedule::complete(std::uint32_t number) {
    Task const& task = tasks_.all[number];
    if (task.ends_step) {
        mark(task.step);
    }
    queue_.complete(number);
}

}  // namespace dlmb::ucx
