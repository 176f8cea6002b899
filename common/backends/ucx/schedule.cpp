// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace dlmb::ucx {
namespace {

/// Less is done at once; more gives way to messages that are ready as well.
constexpr Bytes quick_work = Bytes{16} << 10;

bool is_work(LoweredMicro const& micro) {
    return micro.action == algorithms::Action::copy || micro.action == algorithms::Action::reduce;
}

class TaskBuilder {
public:
    TaskBuilder(TaskSources from, Messages& messages, Worker const& worker)
        : from_(std::move(from)), messages_(messages), worker_(worker), computes_(from_.plan, from_.buffers),
          order_(precedence_of(from_.plan)) {
        tasks_.puts = std::move(from_.puts);
    }

    Tasks build() && {
        for (StepId id = 0; id < from_.plan.steps.size(); ++id) {
            Step const& step = from_.plan.steps[id];
            tasks_.step_names.push_back(fmt::format("step {} \"{}\"", id, step.label));
            first_of_step_.push_back(static_cast<std::uint32_t>(tasks_.all.size()));
            if (from_.step_methods[id].collective) {
                add_micro(from_.steps[id]);
            } else if (auto const* const compute = std::get_if<Compute>(&step.operation)) {
                add_compute(id, *compute);
            } else if (has_signals(step.operation)) {
                add({Task::Kind::signals, true, id, tasks_.puts->task_of(id)}, before_step(id));
            } else {
                add_batch(id);
            }
            last_of_step_.push_back(static_cast<std::uint32_t>(tasks_.all.size() - 1));
        }
        return std::move(tasks_);
    }

private:
    struct Before {
        std::vector<std::uint32_t> complete;
        std::vector<std::uint32_t> started;
    };

    /// Tasks that the first task of a step waits for.
    [[nodiscard]] Before before_step(StepId id) const {
        Before before;
        for (StepId const earlier : order_.complete[id]) {
            before.complete.push_back(last_of_step_[earlier]);
        }
        for (StepId const earlier : order_.started[id]) {
            before.started.push_back(first_of_step_[earlier]);
        }
        return before;
    }

    std::uint32_t add(Task task, Before before) {
        tasks_.all.push_back(task);
        tasks_.precedence.complete.push_back(std::move(before.complete));
        tasks_.precedence.started.push_back(std::move(before.started));
        return static_cast<std::uint32_t>(tasks_.all.size() - 1);
    }

    void add_batch(StepId id) {
        if (auto const verb = from_.step_methods[id].messages->verb) {
            LoweredStep const& step = from_.steps[id];
            Rank const me = from_.plan.me;
            std::string const& name = tasks_.step_names[id];
            OneSidedPlan plan = one_sided_plan(*verb, step, name, me, *from_.remote, worker_);
            if (tasks_.in_flight == nullptr) {
                tasks_.in_flight =
                    std::make_unique<AccessesInFlight>(static_cast<std::size_t>(worker_.bootstrap().size()));
            }
            tasks_.one_sided.push_back(std::make_unique<OneSidedBatch>(
                std::move(plan), BatchPlan{.name = name, .receives = {}, .sends = {}, .copies = step.work}, messages_,
                *tasks_.in_flight, me));
            add({Task::Kind::one_sided, true, id, size(tasks_.one_sided) - 1}, before_step(id));
            return;
        }
        tasks_.batches.push_back(std::make_unique<MessageBatch>(batch_plan(from_.steps[id]), messages_));
        add({Task::Kind::batch, true, id, size(tasks_.batches) - 1}, before_step(id));
    }

    void add_compute(StepId id, Compute const& compute) {
        if (from_.device != nullptr) {
            add({Task::Kind::device_compute, true, id, size(tasks_.device_computes)}, before_step(id));
            tasks_.device_computes.emplace_back(compute, from_.buffers);
        } else {
            add({Task::Kind::compute, true, id, size(tasks_.computes)}, before_step(id));
            tasks_.computes.push_back(computes_.make(id));
        }
    }

    /// A queue of the device keeps its order by itself: its work need not wait until the host has seen earlier work.
    [[nodiscard]] bool queue_orders(LoweredMicro const& earlier, LoweredMicro const& later) const {
        return from_.device != nullptr && is_work(earlier) && is_work(later);
    }

    void add_micro(LoweredStep const& step) {
        std::uint32_t const begin = add({Task::Kind::join, step.micro.empty(), step.step, 0}, before_step(step.step));
        if (step.micro.empty()) {
            return;
        }
        // Messages of one pair have one tag: they are told apart by their order.
        std::map<std::pair<Task::Kind, Rank>, std::uint32_t> latest;
        std::vector<bool> is_last(step.micro.size(), true);
        for (LoweredMicro const& micro : step.micro) {
            Before before;
            for (std::uint32_t const earlier : micro.after) {
                bool const by_queue = queue_orders(step.micro[earlier], micro);
                (by_queue ? before.started : before.complete).push_back(begin + 1 + earlier);
                is_last[earlier] = false;
            }
            if (before.complete.empty()) {
                before.complete.push_back(begin);
            }
            Task const task = micro_task(step, micro);
            if (!is_work(micro)) {
                auto const [place, is_first] = latest.try_emplace({task.kind, tasks_.transfers.back().peer}, 0);
                if (!is_first) {
                    before.started.push_back(place->second);
                }
                place->second = static_cast<std::uint32_t>(tasks_.all.size());
            }
            add(task, std::move(before));
        }
        Before end;
        for (std::uint32_t number = 0; number < is_last.size(); ++number) {
            if (is_last[number]) {
                end.complete.push_back(begin + 1 + number);
            }
        }
        add({Task::Kind::join, true, step.step, 0}, std::move(end));
    }

    /// Adds what the task works on.
    Task micro_task(LoweredStep const& step, LoweredMicro const& micro) {
        switch (micro.action) {
        case algorithms::Action::send:
            tasks_.transfers.push_back(sent(step.sends[micro.index]));
            return {Task::Kind::send, false, step.step, size(tasks_.transfers) - 1};
        case algorithms::Action::receive:
            tasks_.transfers.push_back(step.receives[micro.index]);
            return {Task::Kind::receive, false, step.step, size(tasks_.transfers) - 1};
        case algorithms::Action::copy:
        case algorithms::Action::reduce:
            break;
        }
        tasks_.work.push_back(step.work[micro.index]);
        return {from_.device == nullptr ? Task::Kind::work : Task::Kind::device_work, false, step.step,
                size(tasks_.work) - 1};
    }

    BatchPlan batch_plan(LoweredStep const& step) {
        BatchPlan batch;
        batch.name = tasks_.step_names[step.step];
        batch.receives = step.receives;
        for (Transfer const& message : step.sends) {
            batch.sends.push_back(sent(message));
        }
        batch.copies = step.work;
        batch.device = from_.device == nullptr ? nullptr : &from_.device->work;
        Method const& method = *from_.step_methods[step.step].messages;
        method.arrange(batch, from_.methods.knobs_of(method).max_outstanding);
        return batch;
    }

    [[nodiscard]] Transfer sent(Transfer message) const {
        message.endpoint = worker_.endpoint(message.peer);
        return message;
    }
    template <class List>
    static std::uint32_t size(List const& list) {
        return static_cast<std::uint32_t>(list.size());
    }

    TaskSources from_;
    Messages& messages_;
    Worker const& worker_;
    HostComputes computes_;
    Precedence order_;  // of the steps
    std::vector<std::uint32_t> first_of_step_;
    std::vector<std::uint32_t> last_of_step_;
    Tasks tasks_;
};

bool has_only_messages(Tasks const& tasks) {
    auto const copies = [](auto const& batch) { return batch->has_copies(); };
    return tasks.puts == nullptr && tasks.work.empty() && tasks.computes.empty() && tasks.device_computes.empty() &&
           std::none_of(tasks.batches.begin(), tasks.batches.end(), copies) &&
           std::none_of(tasks.one_sided.begin(), tasks.one_sided.end(), copies);
}

}  // namespace

Tasks build_tasks(TaskSources from, Messages& messages, Worker const& worker) {
    return TaskBuilder(std::move(from), messages, worker).build();
}

Schedule::Schedule(Tasks tasks, ScheduleResources resources, Worker& worker, Workers& workers)
    : CompiledPlan(tasks.step_names.size()), resources_(std::move(resources)), tasks_(std::move(tasks)),
      worker_(worker), workers_(workers), only_messages_(has_only_messages(tasks_)), ready_steps_(tasks_.precedence) {
    tasks_.precedence = {};
    if (tasks_.puts != nullptr) {
        tasks_.puts->watch(signal_watch());
    }
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
    if (tasks_.puts != nullptr) {
        tasks_.puts->begin(iteration_);
    }
    ready_steps_.launch(*this);
}

void Schedule::finish() {
    ready_steps_.finish(*this);
}

bool Schedule::poll() {
    worker_.progress();
    return ready_steps_.look(*this);
}

bool Schedule::start(std::uint32_t number, TaskProgress& progress) {
    Task const& task = tasks_.all[number];
    switch (task.kind) {
    case Task::Kind::join:
        return true;
    case Task::Kind::batch:
        tasks_.batches[task.index]->start(iteration_bits_);
        return false;
    case Task::Kind::one_sided:
        tasks_.one_sided[task.index]->start(iteration_bits_);
        return false;
    case Task::Kind::signals:
        tasks_.puts->start(task.index);
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

bool Schedule::poll(std::uint32_t number, TaskProgress& progress) {
    Task const& task = tasks_.all[number];
    switch (task.kind) {
    case Task::Kind::batch:
        return tasks_.batches[task.index]->poll();
    case Task::Kind::one_sided:
        return tasks_.one_sided[task.index]->poll();
    case Task::Kind::signals:
        return tasks_.puts->poll(task.index);
    case Task::Kind::send:
        return resources_.messages->sent(progress.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::receive:
        return resources_.messages->received(progress.request, tasks_.transfers[task.index], name_of_step(task));
    case Task::Kind::work:
        worked_ = true;
        return do_piece(tasks_.work[task.index], progress.done);
    case Task::Kind::compute:
        worked_ = worked_ || tasks_.computes[task.index].ends_with_its_work();
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
