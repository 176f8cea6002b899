// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/schedule.hpp"

namespace dlmb::ucx {
namespace {

/// Less is done at once; more gives way to messages that are ready as well.
constexpr Bytes quick_work = Bytes{16} << 10;

}  // namespace

Schedule::Schedule(Tasks tasks, ScheduleResources resources, Worker& worker, Workers& workers)
    : CompiledPlan(tasks.step_names.size()), resources_(std::move(resources)), tasks_(std::move(tasks)),
      worker_(worker), workers_(workers), queue_(tasks_.precedence) {
    running_.reserve(tasks_.all.size());
    tasks_.precedence = {};
}

Schedule::~Schedule() {
    for (Running const& each : running_) {
        if (each.request != nullptr) {
            resources_.messages->cancel(each.request);
        }
    }
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
            worker_.progress_or_idle();
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
    Running started{number, nullptr, 0};
    switch (task.kind) {
    case Task::Kind::join:
        return complete(number);
    case Task::Kind::batch:
        tasks_.batches[task.index]->start(iteration_bits_);
        break;
    case Task::Kind::send:
        started.request = resources_.messages->send(tasks_.transfers[task.index], iteration_bits_, name_of_step(task));
        if (started.request == nullptr) {
            return complete(number);
        }
        break;
    case Task::Kind::receive:
        started.request =
            resources_.messages->receive(tasks_.transfers[task.index], iteration_bits_, name_of_step(task));
        break;
    case Task::Kind::work:
        if (tasks_.work[task.index].bytes <= quick_work && do_piece(tasks_.work[task.index], started.progress)) {
            return complete(number);
        }
        break;
    case Task::Kind::compute:
        tasks_.computes[task.index].start();
        break;
    case Task::Kind::device_work:
        queue_work(resources_.device->work.queue(), tasks_.work[task.index]);
        started.progress = resources_.device->work.mark();
        break;
    case Task::Kind::device_compute:
        tasks_.device_computes[task.index].start(resources_.device->compute.queue());
        started.progress = resources_.device->compute.mark();
        break;
    }
    running_.push_back(started);
}

bool Schedule::poll() {
    bool moved = false;
    for (std::size_t i = 0; i < running_.size();) {
        if (is_complete(running_[i])) {
            std::uint32_t const task = running_[i].task;
            running_[i] = running_.back();
            running_.pop_back();
            complete(task);
            moved = true;
        } else {
            ++i;
        }
    }
    return moved;
}

bool Schedule::is_complete(Running& each) {
    Task const& task = tasks_.all[each.task];
    switch (task.kind) {
    case Task::Kind::batch:
        return tasks_.batches[task.index]->poll();
    case Task::Kind::send:
        return resources_.messages->sent(each.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::receive:
        return resources_.messages->received(each.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::work:
        return do_piece(tasks_.work[task.index], each.progress);
    case Task::Kind::compute:
        return tasks_.computes[task.index].test();
    case Task::Kind::device_work:
        return resources_.device->work.complete(each.progress);
    case Task::Kind::device_compute:
        return resources_.device->compute.complete(each.progress);
    case Task::Kind::join:
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
