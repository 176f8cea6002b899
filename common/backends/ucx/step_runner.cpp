// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/step_runner.hpp"

#include "common/backends/ucx/schedule.hpp"

#include <fmt/core.h>

#include <bit>

namespace dlmb::ucx {
namespace {

/// Operation in the tags of all steps. Between two ranks messages keep their order: first sent, first received.
constexpr std::uint64_t one_operation = 0;

}  // namespace

StepRunner::StepRunner(BackendContext const& context, std::span<MethodChoice const> methods)
    : bootstrap_(context.bootstrap), workers_(context) {
    std::vector<Rank> others;
    for (Rank rank = 0; rank < bootstrap_.size(); ++rank) {
        if (rank != bootstrap_.rank()) {
            others.push_back(rank);
        }
    }
    auto const require = [](std::string const& refusal) {
        if (!refusal.empty()) {
            throw Error("ucx: " + refusal);
        }
    };
    require(workers_.why_not());
    require(workers_.standard().connect(others));
    for (MethodChoice const& method : methods) {
        auto const found = workers_.with(methods_.choose(method).context_settings());
        if (!found) {
            throw Error(found.error().reason);
        }
        require(found.value()->connect(others));
    }
}

std::string StepRunner::refusal(Plan const& plan, MethodChoice const& choice) const {
    ChosenMethods const methods = methods_.choose(choice);
    if (methods.one_sided()) {
        return fmt::format("ucx: {}: is prepared for a plan that repeats, not for single steps", choice.name);
    }
    OperationKind const kind = kind_of(plan.steps.front().operation);
    if (choice.name != "default" && methods.method_for(kind).info.name != choice.name) {
        return fmt::format("ucx: {}: does no {}", to_string(choice), name_of(kind));
    }
    auto const made = step_methods(plan, {}, methods);
    return made ? "" : made.error().reason;
}

void StepRunner::run(Plan const& plan, Buffers const& buffers, MethodChoice const& choice) {
    ChosenMethods const methods = methods_.choose(choice);
    Worker& worker = *workers_.with(methods.context_settings()).value();
    std::vector<StepMethod> const made = step_methods(plan, buffers, methods).value();
    std::vector<LoweredStep> steps =
        lower(plan, buffers, made, {scratch(made.front().micro.scratch_bytes)}, one_operation);
    if (!steps.front().problem.empty()) {
        throw Error(fmt::format("ucx: rank {}: {}", plan.me, steps.front().problem));
    }
    for (Transfer& message : steps.front().receives) {
        message.tag = send_tag(one_operation, 0, message.peer);
    }
    ScheduleResources resources;
    resources.messages = std::make_unique<Messages>(worker, ucx_type_of(buffers.kind));
    Tasks tasks = build_tasks({plan, buffers, steps, made, methods}, *resources.messages, worker);
    Schedule schedule(std::move(tasks), std::move(resources), worker, workers_);
    schedule.launch();
    while (!schedule.poll()) {
        if (!worker.progress_or_yield()) {
            bootstrap_.progress();
        }
    }
    worker.flush();
}

std::byte* StepRunner::scratch(Bytes bytes) {
    if (bytes > scratch_.bytes()) {
        scratch_ = {};
        scratch_ = allocate_scratch(MemoryKind::host, std::bit_ceil(bytes));
    }
    return scratch_.data();
}

}  // namespace dlmb::ucx
