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
      worker_(worker), workers_(workers), ready_steps_(tasks_.precedence) {
    tasks_.precedence = {};
}

Schedule::~Schedule() {
    for (auto const& [task, progress] : ready_steps_.open()) {
        if (progress.request != nullptr) {
            resources_.messages->cancel(progress.request);
        }
    }
}

void Schedule::launch() {
    begin();
    iteration_bits_ = iteration_bits(++iteration_);
    ready_steps_.launch(*this);
}

void Schedule::finish() {
    ready_steps_.finish(*this);
}

bool Schedule::start(std::uint32_t number, Progress& progress) {
    Task const& task = tasks_.all[number];
    switch (task.kind) {
    case Task::Kind::join:
        return true;
    case Task::Kind::batch:
        tasks_.batches[task.index]->start(iteration_bits_);
        return false;
    case Task::Kind::send:
        progress.request = resources_.messages->send(tasks_.transfers[task.index], iteration_bits_, name_of_step(task));
        return progress.request == nullptr;
    case Task::Kind::receive:
        progress.request =
            resources_.messages->receive(tasks_.transfers[task.index], iteration_bits_, name_of_step(task));
        return false;
    case Task::Kind::work:
        return tasks_.work[task.index].bytes <= quick_work && do_piece(tasks_.work[task.index], progress.done);
    case Task::Kind::compute:
        tasks_.computes[task.index].start();
        return false;
    case Task::Kind::device_work:
        queue_work(resources_.device->work.queue(), tasks_.work[task.index]);
        progress.done = resources_.device->work.mark();
        return false;
    case Task::Kind::device_compute:
        tasks_.device_computes[task.index].start(resources_.device->compute.queue());
        progress.done = resources_.device->compute.mark();
        return false;
    }
    return true;
}

bool Schedule::poll(std::uint32_t number, Progress& progress) {
    Task const& task = tasks_.all[number];
    switch (task.kind) {
    case Task::Kind::batch:
        return tasks_.batches[task.index]->poll();
    case Task::Kind::send:
        return resources_.messages->sent(progress.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::receive:
        return resources_.messages->received(progress.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::work:
        return do_piece(tasks_.work[task.index], progress.done);
    case Task::Kind::compute:
        return tasks_.computes[task.index].test();
    case Task::Kind::device_work:
        return resources_.device->work.complete(progress.done);
    case Task::Kind::device_compute:
        return resources_.device->compute.complete(progress.done);
    case Task::Kind::join:
        break;
    }
    return true;
}

}  // namespace dlmb::ucx
