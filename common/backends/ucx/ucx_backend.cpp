// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backends/ucx/ucx_backend.hpp"

#include "common/backend_kit/compute.hpp"
#include "common/backends/ucx/schedule.hpp"
#include "common/bootstrap/over_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::ucx {
namespace {

std::string why_not(Plan const& plan, Buffers const& buffers, ChosenMethods const& methods,
                    std::optional<std::uint64_t> operations, Worker const& worker) {
    if (!worker.memory_types().has(buffers.kind)) {
        return fmt::format("{} memory: {}", name_of(buffers.kind), worker.why_no(buffers.kind));
    }
    if (!operations) {
        return fmt::format("{} steps do not fit the {} operation ids of a message tag beside the plans in use",
                           plan.steps.size(), tag_field_limit);
    }
    if (std::string reason = why_no_exchange(plan); !reason.empty() || !works_on_device(buffers.kind)) {
        return reason;
    }
    return methods.one_sided() || has_signals(plan)
               ? fmt::format("ucx: put and get are for host memory only, not for {}", name_of(buffers.kind))
               : why_no_products(plan);
}

std::vector<Rank> peers_of(std::vector<LoweredStep> const& steps, SignalTable const& signals) {
    std::vector<Rank> peers = signals.peers;
    for (LoweredStep const& step : steps) {
        for (std::vector<Transfer> const* const messages : {&step.sends, &step.receives}) {
            for (Transfer const& message : *messages) {
                peers.push_back(message.peer);
            }
        }
    }
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    return peers;
}

/// By StepId; the memory itself goes into `memory`.
std::vector<std::byte*> provide_scratch(Plan const& plan, MemoryKind kind, std::vector<StepMethod> const& methods,
                                        Allocation& memory) {
    std::vector<Bytes> needed;
    for (StepMethod const& method : methods) {
        needed.push_back(method.micro.scratch_bytes);
    }
    ScratchLayout const layout = lay_out_scratch(plan, needed);
    memory = allocate_scratch(kind, layout.bytes);
    std::vector<std::byte*> scratch;
    for (Bytes const offset : layout.offsets) {
        scratch.push_back(memory.data() + offset);
    }
    return scratch;
}

std::unique_ptr<TrackedQueues> make_queues(Plan const& plan, std::vector<LoweredStep> const& steps) {
    std::size_t work = 0;
    for (LoweredStep const& step : steps) {
        work += step.work.size();
    }
    auto const computes = std::count_if(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
        return std::holds_alternative<Compute>(step.operation);
    });
    return std::make_unique<TrackedQueues>(work, static_cast<std::size_t>(computes));
}

class UcxBackend final : public Backend {
public:
    explicit UcxBackend(BackendContext const& context) : workers_(context) {}
    [[nodiscard]] std::string const& why_unusable() const { return workers_.why_not(); }

    [[nodiscard]] std::string_view name() const override { return "ucx"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return methods_.infos(); }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind kind) const override {
        return works_on_device(kind) ? methods_.by_messages() : methods_.infos();
    }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind /*kind*/,
                                                     std::span<OperationUse const> uses) const override {
        return methods_.variants(uses);
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return workers_.standard().memory_types().has(kind); }
    [[nodiscard]] std::string why_no(MemoryKind kind) const override { return workers_.standard().why_no(kind); }
    [[nodiscard]] std::optional<Processor> computes_in(MemoryKind kind) const override {
        return works_on_device(kind) ? Processor::device : Processor::host;
    }
    [[nodiscard]] Provenance provenance() const override { return workers_.standard().provenance(); }

    /// Chooses a method for each step, lowers it to messages and local work, matches sends with receives over all
    /// ranks, connects, and makes tasks.
    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& choice) override {
        ChosenMethods const methods = methods_.choose(choice);
        bool const signals = any_rank(workers_.standard().bootstrap(), has_signals(plan));
        auto const found = workers_.with(methods.context_settings(), methods.one_sided() || signals);
        if (!found) {
            return found.error();
        }
        Worker& worker = *found.value();
        Bootstrap& bootstrap = worker.bootstrap();
        ScheduleResources resources;
        auto const first = worker.operation_ids().take(plan.steps.size());
        resources.operations = first ? std::make_unique<OperationRange>(worker.operation_ids(), *first) : nullptr;
        if (std::string reason = first_refusal(bootstrap, why_not(plan, buffers, methods, first, worker));
            !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
        auto const made = step_methods(plan, buffers, methods);
        if (std::string reason = first_refusal(bootstrap, made ? "" : made.error().reason); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
        auto const scratch = provide_scratch(plan, buffers.kind, made.value(), resources.scratch);
        std::vector<LoweredStep> steps = lower(plan, buffers, made.value(), scratch, *first);
        if (std::string const problem = first_refusal(bootstrap, match(bootstrap, plan, steps)); !problem.empty()) {
            throw Error(problem);
        }
        SignalTable const table = signals ? match_signals(plan, bootstrap) : SignalTable{};
        if (std::string refusal = worker.connect(peers_of(steps, table)); !refusal.empty()) {
            return Unsupported{"ucx: " + refusal};
        }
        resources.messages = std::make_unique<Messages>(worker, ucx_type_of(buffers.kind));
        resources.device = works_on_device(buffers.kind) ? make_queues(plan, steps) : nullptr;
        resources.remote = methods.one_sided() ? exchange_memory(plan, buffers, steps, made.value(), worker) : nullptr;
        auto puts = signals ? std::make_unique<Puts>(plan, buffers, table, worker) : nullptr;
        Tasks tasks = build_tasks({plan, buffers, steps, made.value(), methods, resources.device.get(),
                                   resources.remote.get(), std::move(puts)},
                                  *resources.messages, worker);
        return MadePlan(std::make_unique<Schedule>(std::move(tasks), std::move(resources), worker, workers_));
    }

    [[nodiscard]] MadePlan compile_polled(Plan const& plan, Buffers const& buffers,
                                          MethodChoice const& choice) override {
        return compile(plan, buffers, choice);
    }

    void quiesce() override { workers_.quiesce(); }

private:
    Workers workers_;
    MethodTable methods_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    if (static_cast<std::uint64_t>(context.bootstrap.size()) > tag_field_limit) {
        return Unsupported{
            fmt::format("a message tag names {} ranks, the launch has {}", tag_field_limit, context.bootstrap.size())};
    }
    auto made = std::make_unique<UcxBackend>(context);
    if (!made->why_unusable().empty()) {
        return Unsupported{made->why_unusable()};
    }
    return std::unique_ptr<Backend>(std::move(made));
}

}  // namespace dlmb::ucx
