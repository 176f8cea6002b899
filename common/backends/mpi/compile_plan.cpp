// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/mpi/compile_plan.hpp"

#include "common/backend_kit/compute.hpp"
#include "common/backends/mpi/collectives.hpp"
#include "common/backends/mpi/library_faults.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/group_index.hpp"
#include "common/formats/plan/ready_queue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace dlmb::mpi {
namespace {

/// On the device, where the payload is.
class DeviceComputeStep {
public:
    DeviceComputeStep(Compute const& step, CompileContext const& context, DeviceQueue const& queue)
        : compute_(step, *context.buffers), queue_(&queue), idle_(context.idle) {}
    void start() {
        compute_.start(*queue_);
        done_.record(*queue_);
    }
    void idle() const { idle_(); }
    [[nodiscard]] bool test() { return done_.reached(); }

private:
    DeviceCompute compute_;
    DeviceQueue const* queue_;
    DeviceEvent done_;
    Idle idle_;
};

PreparedCall prepare_compute(StepId id, Compute const& step, CompileContext const& context, HostComputes& on_host) {
    return context.queues == nullptr ? PreparedCall(on_host.make(id))
                                     : PreparedCall(DeviceComputeStep(step, context, context.queues->compute));
}

bool fits_int(Exchange const& exchange, CallLimits const& limits) {
    auto const fits = [&](Block const& b) { return b.offset <= limits.call_bytes && b.bytes <= limits.call_bytes; };
    return std::all_of(exchange.send.begin(), exchange.send.end(), fits) &&
           std::all_of(exchange.recv.begin(), exchange.recv.end(), fits);
}

std::string collective_refusal(Collective const& step, Plan const& plan, CallLimits const& limits) {
    if (step.kind == OperationKind::reduce && step.root != 0 && sides_of(plan, step).in_place &&
        reduces_in_place_to_first_rank_only()) {
        return "MPICH 4.0 cannot reduce in place to another rank than the first of the group";
    }
    // A collective with equal parts cannot be cut into several calls: the parts of a call lie next to each other. Calls
    // with shares are given their places.
    bool const equal = step.shares.empty();
    Bytes const parts = equal ? plan.groups.at(step.group).members.size() : Bytes{1};
    Bytes const count = step.bytes / size_of(step.element) / parts;
    return has_parts(step.kind) && count > limits.call_bytes
               ? fmt::format("{} elements{} in one call, MPI's int ends at 2^31 - 1", count, equal ? " per rank" : "")
               : "";
}

/// Why no call of MPI can do a step, whatever the method; empty: one can.
std::string limit_refusal(Operation const& operation, Plan const& plan, CallLimits const& limits) {
    if (auto const* step = std::get_if<Collective>(&operation)) {
        return collective_refusal(*step, plan, limits);
    }
    if (auto const* exchange = std::get_if<Exchange>(&operation)) {
        return exchange->in_place() && large_count_calls() == nullptr && !fits_int(*exchange, limits)
                   ? "in place there is no other call for blocks beyond MPI's int, which ends at 2^31 - 1"
                   : "";
    }
    auto const stream = stream_of(plan, operation);
    int const channel = stream ? stream->channel : 0;
    return channel >= 0 && channel < limits.channels
               ? ""
               : fmt::format("channel {} is not among the {} tags of this MPI library", channel, limits.channels);
}

std::string refusal_of(Step const& step, Plan const& plan, ChosenMethod const& method, CallLimits const& limits) {
    if (std::holds_alternative<Compute>(step.operation)) {
        return "";
    }
    auto* const refusal = row_for(*method.calls, kind_of(step.operation)).refusal;
    std::string const reason = refusal == nullptr ? limit_refusal(step.operation, plan, limits)
                                                  : refusal(step.operation, plan, method, limits);
    return reason.empty() ? "" : fmt::format("mpi: {} \"{}\": {}", name_of(step.operation), step.label, reason);
}

/// Whether the calls of all ranks say MPI_IN_PLACE: some rank has blocks in place. Collective over the group.
bool works_in_place(Exchange const& exchange, MPI_Comm comm) {
    int any = exchange.in_place() ? 1 : 0;
    check(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    return any != 0;
}

}  // namespace

PlanRequirements plan_requirements(Plan const& plan, ChosenMethod const& method, CallLimits const& limits) {
    PlanRequirements own{.concurrent = !is_chain(plan), .refusal = ""};
    for (Step const& step : plan.steps) {
        if (auto const* exchange = std::get_if<Exchange>(&step.operation)) {
            own.large = own.large || !fits_int(*exchange, limits);
            own.in_place = own.in_place || exchange->in_place();
        }
        own.reduces = own.reduces || reduces(step.operation);
        if (own.refusal.empty()) {
            own.refusal = refusal_of(step, plan, method, limits);
        }
    }
    return own;
}

PlanRequirements requirements_of_all(PlanRequirements const& own, Bootstrap& bootstrap) {
    return {any_rank(bootstrap, own.concurrent), any_rank(bootstrap, own.reduces), any_rank(bootstrap, own.large),
            any_rank(bootstrap, own.in_place), first_refusal(bootstrap, own.refusal)};
}

// Making a graph communicator, a persistent collective or a window is collective over its group. Group by group, sorted
// by members, all ranks that share groups come to them in one order; the steps of a group keep theirs. A pair of ranks
// takes its messages channel by channel: between channels their plans may differ.
std::vector<StepId> collective_order(Plan const& plan) {
    using StreamKey = std::tuple<std::vector<Rank>, Rank, int>;  // members, sender, channel
    auto const key_of = [&](Operation const& operation) -> StreamKey {
        if (auto const id = collective_group(operation)) {
            return {plan.groups.at(*id).members, -1, 0};
        }
        auto const stream = stream_of(plan, operation);
        if (!stream) {
            return {};
        }
        std::vector<Rank> pair{std::min(plan.me, stream->peer), std::max(plan.me, stream->peer)};
        return {std::move(pair), stream->outgoing ? plan.me : stream->peer, stream->channel};
    };
    std::vector<StreamKey> keys;
    for (Step const& step : plan.steps) {
        keys.push_back(key_of(step.operation));
    }
    std::vector<StepId> order(keys.size());
    std::iota(order.begin(), order.end(), StepId{0});
    std::stable_sort(order.begin(), order.end(), [&](StepId a, StepId b) { return keys[a] < keys[b]; });
    return order;
}

std::vector<PreparedCall> compile_plan(CompileContext context) {
    std::map<MPI_Comm, int> tags;
    context.tags = &tags;
    std::vector<std::shared_ptr<StagingTurn>> const turns = turns_of(context.plan);
    HostComputes on_host(context.plan, *context.buffers);
    bool const some_in_place = context.in_place;
    std::vector<std::optional<PreparedCall>> by_step(context.plan.steps.size());
    for (StepId const step : collective_order(context.plan)) {
        Operation const& operation = context.plan.steps[step].operation;
        auto const* exchange = std::get_if<Exchange>(&operation);
        context.in_place =
            some_in_place && exchange != nullptr && works_in_place(*exchange, context.comm(exchange->group));
        context.turn = turns[step];
        auto const* compute = std::get_if<Compute>(&operation);
        by_step[step] = compute != nullptr ? prepare_compute(step, *compute, context, on_host)
                                           : compile_by(*context.method.row, operation, context);
    }
    std::vector<PreparedCall> calls;
    for (std::optional<PreparedCall>& call : by_step) {
        calls.push_back(std::move(*call));
    }
    return calls;
}

}  // namespace dlmb::mpi
