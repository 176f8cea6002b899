// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/compile_plan.hpp"

#include "common/backend_kit/device_compute.hpp"
#include "common/backend_kit/host_compute.hpp"
#include "common/plan/group_index.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace dlmb::mpi {
namespace {

class HostComputeStep {
public:
    explicit HostComputeStep(Compute const& step) : compute_(step) {}
    void start() { compute_.start(); }
    void wait() {
        while (!test()) {
        }
    }
    [[nodiscard]] bool test() { return compute_.test(); }

private:
    HostCompute compute_;
};

/// On the device, where the payload is.
class DeviceComputeStep {
public:
    DeviceComputeStep(Compute const& step, DeviceQueue const& queue, Idle idle)
        : compute_(step), queue_(&queue), idle_(idle) {}
    void start() {
        compute_.start(*queue_);
        done_.record(*queue_);
    }
    void wait() {
        while (!test()) {
            idle_();
        }
    }
    [[nodiscard]] bool test() { return done_.reached(); }

private:
    DeviceCompute compute_;
    DeviceQueue const* queue_;
    DeviceEvent done_;
    Idle idle_;
};

PreparedCall prepare_compute(Compute const& step, PlanInputs const& inputs) {
    return inputs.queues == nullptr ? PreparedCall(HostComputeStep(step))
                                    : PreparedCall(DeviceComputeStep(step, inputs.queues->compute, inputs.idle));
}

}  // namespace

// Making a graph communicator or a persistent collective is collective over its group. Group by group, sorted by
// members, all ranks that share groups come to them in one order; the steps of a group keep theirs.
std::vector<StepId> collective_order(Plan const& plan) {
    std::vector<StepId> order(plan.steps.size());
    std::iota(order.begin(), order.end(), StepId{0});
    std::vector<Rank> const none;
    auto const members = [&](StepId step) -> std::vector<Rank> const& {
        auto const id = collective_group(plan.steps[step].operation);
        return id ? plan.groups.at(*id).members : none;
    };
    std::stable_sort(order.begin(), order.end(), [&](StepId a, StepId b) { return members(a) < members(b); });
    return order;
}

std::vector<PreparedCall> compile_plan(PlanInputs const& inputs) {
    Plan const& plan = inputs.plan;
    std::vector<int> exchanges(plan.groups.size(), 0);
    CompileContext context{plan,
                           inputs.method,
                           inputs.communicators,
                           inputs.limits,
                           &inputs.buffers,
                           inputs.queues == nullptr ? nullptr : &inputs.queues->within,
                           inputs.agreed.concurrent,
                           inputs.agreed.large,
                           &exchanges};
    std::optional<Staging> staging;
    if (inputs.host != nullptr) {
        staging.emplace(Staging{inputs.buffers, *inputs.host, *inputs.queues, inputs.idle, turns_of(plan)});
        context.staging = &*staging;
    }
    std::vector<std::optional<PreparedCall>> by_step(plan.steps.size());
    for (StepId const step : collective_order(plan)) {
        Operation const& operation = plan.steps[step].operation;
        context.step = step;
        auto const* compute = std::get_if<Compute>(&operation);
        by_step[step] =
            compute != nullptr ? prepare_compute(*compute, inputs) : compile_by(*inputs.method.row, operation, context);
    }
    std::vector<PreparedCall> calls;
    calls.reserve(by_step.size());
    for (std::optional<PreparedCall>& call : by_step) {
        calls.push_back(std::move(*call));
    }
    return calls;
}

}  // namespace dlmb::mpi
