// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucc/ucc_plan.hpp"

#include "common/backend_kit/host_compute.hpp"
#include "common/backend_kit/ready_steps.hpp"
#include "common/backends/ucc/collective.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/plan/group_index.hpp"
#include "common/plan/ready_queue.hpp"

#include <fmt/core.h>

#include <optional>
#include <variant>

namespace dlmb::ucc {
namespace {

using Task = std::variant<Collective, HostCompute>;

class UccPlan final : public CompiledPlan {
public:
    UccPlan(Plan const& plan, std::vector<Task> tasks, Context& context, Provenance facts, Idle idle)
        : CompiledPlan(plan.steps.size()), tasks_(std::move(tasks)), steps_(precedence_of(plan)), context_(context),
          facts_(std::move(facts)), idle_(idle) {}

    void launch() override {
        begin();
        steps_.launch(*this);
    }
    void finish() override { steps_.finish(*this); }
    [[nodiscard]] Provenance provenance() const override { return facts_; }

private:
    friend ReadySteps<>;
    bool start(StepId step, NoState& /*state*/) {
        std::visit([](auto& task) { task.start(); }, tasks_[step]);
        return false;
    }
    bool poll(StepId step, NoState& /*state*/) {
        context_.progress();
        return std::visit([](auto& task) { return task.test(); }, tasks_[step]);
    }
    void complete(StepId step) { mark(step); }
    void idle() const { idle_(); }

    std::vector<Task> tasks_;
    ReadySteps<> steps_;
    Context& context_;
    Provenance facts_;
    Idle idle_;
};

std::string refusal_of(Plan const& plan, MemoryKind kind) {
    for (Step const& step : plan.steps) {
        if (std::string reason = why_not(step.operation, kind); !reason.empty()) {
            return fmt::format("ucc: {} \"{}\": {}", name_of(step.operation), step.label, reason);
        }
        if (std::holds_alternative<Compute>(step.operation) && on_device(kind)) {
            return fmt::format("ucc: \"{}\": UCC computes nothing on a GPU", step.label);
        }
    }
    return "";
}

/// As tuning tables read them: BACKEND_algorithm.CALL, and the family that the names belong to.
Provenance facts_of(Method const& method) {
    Provenance facts;
    for (auto const& [call, name] : method.algorithms) {
        facts.emplace("ucc_algorithm_family", "ucc.tl_ucp");
        facts.emplace("ucc_algorithm." + call, name);
    }
    return facts;
}

}  // namespace

Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                             Method const& method, Context& context,
                                                             Bootstrap& bootstrap, Idle idle) {
    if (std::string reason = first_refusal(bootstrap, refusal_of(plan, buffers.kind)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    context.prepare(plan);
    std::vector<Task> tasks;
    std::string unsupported;
    for (Step const& step : plan.steps) {
        if (auto const* compute = std::get_if<Compute>(&step.operation)) {
            tasks.emplace_back(std::in_place_type<HostCompute>, *compute);
            continue;
        }
        Group const& group = plan.groups[*collective_group(step.operation)];
        Collective collective(step.operation, buffers, context.team(group), group.members.size(),
                              static_cast<std::size_t>(*rank_in(group, plan.me)));
        if (!collective.prepare(method.persistent) && unsupported.empty()) {
            unsupported = fmt::format("ucc: {} \"{}\": this UCC library says that it does not support it",
                                      name_of(step.operation), step.label);
        }
        tasks.emplace_back(std::move(collective));
    }
    if (std::string reason = first_refusal(bootstrap, unsupported); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    return std::unique_ptr<CompiledPlan>(
        std::make_unique<UccPlan>(plan, std::move(tasks), context, facts_of(method), idle));
}

}  // namespace dlmb::ucc
