// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives of the UCC library, which Open MPI and PyTorch use over UCX.
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/ready_steps.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/backends/ucc/collective.hpp"
#include "common/backends/ucc/context.hpp"
#include "common/backends/ucc/methods.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/group_index.hpp"

#include <fmt/core.h>

#include <dlfcn.h>
#include <filesystem>
#include <variant>

namespace dlmb::ucc {
namespace {

using Task = std::variant<CollectiveRequest, HostCompute>;

/// Prepared calls of UCC, which run as their dependencies allow.
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
    bool poll() override {
        context_.progress();
        return steps_.look(*this);
    }
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
    if (std::string reason = why_no_exchange(plan); !reason.empty()) {
        return reason;
    }
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

/// Collective over the world. `method` says how steps are called, `context` has its algorithms.
MadePlan compile_plan(Plan const& plan, Buffers const& buffers, Method const& method, Context& context,
                      Bootstrap& bootstrap, Idle idle) {
    if (std::string reason = first_refusal(bootstrap, refusal_of(plan, buffers.kind)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    if (!method.algorithms.empty() && !any_rank(bootstrap, makes_named_call(plan, method))) {
        return Unsupported{"ucc: algorithm: no step of this traffic makes a call that the method names"};
    }
    if (std::string reason = context.prepare(plan); !reason.empty()) {
        return Unsupported{"ucc: " + reason};
    }
    std::vector<Task> tasks;
    HostComputes computes(plan, buffers);
    std::string unsupported;
    for (StepId id = 0; id < plan.steps.size(); ++id) {
        Step const& step = plan.steps[id];
        if (std::holds_alternative<Compute>(step.operation)) {
            tasks.emplace_back(computes.make(id));
            continue;
        }
        Group const& group = plan.groups[*collective_group(step.operation)];
        CollectiveRequest collective(step.operation, buffers, context.team(group), group.members.size(),
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
    return MadePlan(std::make_unique<UccPlan>(plan, std::move(tasks), context, facts_of(method), idle));
}

/// UCC loads what serves a kind of memory from a folder beside the library.
bool has_component(std::string_view name) {
    Dl_info found{};
    if (dladdr(reinterpret_cast<void const*>(&ucc_get_version_string), &found) == 0 || found.dli_fname == nullptr) {
        return false;
    }
    auto const folder = std::filesystem::path(found.dli_fname).parent_path() / "ucc";
    std::error_code unreadable;
    return std::filesystem::exists(folder / fmt::format("libucc_{}.so", name), unreadable);
}

class UccBackend final : public Backend {
public:
    explicit UccBackend(BackendContext const& context)
        : bootstrap_(context.bootstrap), idle_(should_yield(context.yield, context.bootstrap)),
          contexts_(context.bootstrap), cuda_(has_component("mc_cuda")) {}
    [[nodiscard]] std::string const& why_unusable() const { return contexts_.why_not(); }

    [[nodiscard]] std::string_view name() const override { return "ucc"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table(); }
    /// `algorithm` means something only with the choices of variants().
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind /*kind*/) const override {
        return method_table().first(method_table().size() - 1);
    }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind kind,
                                                     std::span<OperationUse const> uses) const override {
        return supports(kind) ? algorithm_variants(uses) : std::vector<MethodChoice>{};
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        bool const device = kind == MemoryKind::cuda || kind == MemoryKind::managed;
        return (device && cuda_) || !(device || kind == MemoryKind::nccl);
    }
    [[nodiscard]] std::string why_no(MemoryKind kind) const override {
        return supports(kind)             ? ""
               : kind == MemoryKind::nccl ? "ucc takes cuda memory, not that which NCCL allocates"
                                          : "this UCC library was built without CUDA (it has no component mc_cuda)";
    }
    [[nodiscard]] Provenance provenance() const override {
        return {{"ucc_version", ucc_get_version_string()}, {"yields", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& choice) override {
        Method const method = read_method(choice);
        if (!supports(buffers.kind)) {
            return Unsupported{fmt::format("{} memory: {}", dlmb::name_of(buffers.kind), why_no(buffers.kind))};
        }
        auto const context = contexts_.with(tune_text(method));
        return context ? compile_plan(plan, buffers, method, *context.value(), bootstrap_, idle_) : context.error();
    }

    [[nodiscard]] MadePlan compile_polled(Plan const& plan, Buffers const& buffers,
                                          MethodChoice const& choice) override {
        return compile(plan, buffers, choice);
    }

    // Every collective has ended on every rank that returned from finish(); the others may need this one's progress,
    // which the bootstrap makes while it waits.
    void quiesce() override { contexts_.quiesce(); }

private:
    Bootstrap& bootstrap_;
    Idle idle_;
    Contexts contexts_;
    bool cuda_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    auto made = std::make_unique<UccBackend>(context);
    if (!made->why_unusable().empty()) {
        return Unsupported{made->why_unusable()};
    }
    return std::unique_ptr<Backend>(std::move(made));
}

}  // namespace dlmb::ucc
