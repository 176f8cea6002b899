// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/compute.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/backends/nccl/check.hpp"
#include "common/backends/nccl/deadlock.hpp"
#include "common/backends/nccl/gpus.hpp"
#include "common/backends/nccl/methods.hpp"
#include "common/backends/nccl/queued_plan.hpp"
#include "common/backends/nccl/translate.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::nccl {
namespace {

constexpr int first_with_fp8 = NCCL_VERSION(2, 24, 0);
constexpr int first_with_puts = NCCL_VERSION(2, 29, 0);

int library_version() {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return version;
}

std::string why_no_fp8(Gpus const& gpus) {
    if (!fp8_type() || library_version() < first_with_fp8) {
        return "fp8 reductions came with NCCL 2.24";
    }
    return gpus.all_reduce_fp8 ? "" : "fp8 reductions need GPUs of compute capability 9.0 or later";
}

std::string version_text(int code) {
    return fmt::format("{}.{}.{}", code / 10'000, code / 100 % 100, code % 100);
}

/// Of a launch with signals.
std::string why_no_puts(Method const& method, MemoryKind kind) {
    if (int const library = library_version(); !has_one_sided_calls() || library < first_with_puts) {
        return fmt::format("nccl puts with ncclPutSignal, which came with NCCL 2.29; the build has {} and runs with {}",
                           version_text(NCCL_VERSION_CODE), version_text(library));
    }
    if (kind != MemoryKind::nccl) {
        return fmt::format("nccl puts from and to symmetric windows of nccl memory, not {} memory", name_of(kind));
    }
    return method.graph ? "nccl: in a graph, only one signal of each pair of ranks can be on its way (NCCL 2.30)" : "";
}

bool is_packed(Plan const& plan, Step const& step) {
    auto const* const exchange = std::get_if<Exchange>(&step.operation);
    if (exchange == nullptr) {
        return true;
    }
    std::size_t const members = plan.groups[exchange->group].members.size();
    return packed(exchange->send, members) && packed(exchange->recv, members);
}

/// Collective. ncclAlltoAll on one rank and grouped messages on another would not meet.
Method on_all_ranks(Method method, Plan const& plan, Bootstrap& bootstrap) {
    bool const uniform =
        std::all_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) { return is_packed(plan, step); });
    bool const more = std::any_of(plan.steps.begin(), plan.steps.end(),
                                  [](Step const& step) { return tuned_operations.has(kind_of(step.operation)); });
    bool const ragged_anywhere = any_rank(bootstrap, !uniform);
    bool const more_anywhere = any_rank(bootstrap, more);
    method.all_to_all = method.all_to_all && !(ragged_anywhere && method.falls_back && more_anywhere);
    return method;
}

bool has_exchange(Plan const& plan) {
    return std::any_of(plan.steps.begin(), plan.steps.end(),
                       [](Step const& step) { return std::holds_alternative<Exchange>(step.operation); });
}

std::string why_not(Plan const& plan, Method const& method, Expected<std::vector<Item>, Unsupported> const& items) {
    if (std::string reason = why_no_exchange(plan); !reason.empty()) {
        return reason;
    }
    if (method.all_to_all && has_exchange(plan) && all_to_all_missing() != nullptr) {
        return all_to_all_missing();
    }
    return items ? why_no_products(plan) : items.error().reason;
}

/// Collective.
std::string why_no_algorithm(AlgorithmChoice const& choice, Plan const& plan, Shared const& shared) {
    if (!shared.tuner.why_not().empty()) {
        return fmt::format("nccl: algorithms cannot be chosen: {}", shared.tuner.why_not());
    }
    return any_rank(shared.bootstrap, calls_of(choice, plan) > 0)
               ? ""
               : "not applicable: NCCL asks its tuner about collectives of several ranks with data only";
}

/// Collective. Of a launch with signals: the calls of this rank's plan.
Expected<std::unique_ptr<OneSidedCalls>, Unsupported> one_sided_calls(Plan const& plan, Buffers const& buffers,
                                                                      Method const& method, Shared const& shared,
                                                                      Registration& registration) {
    bool const reads = std::any_of(plan.steps.begin(), plan.steps.end(),
                                   [](Step const& step) { return is_read(kind_of(step.operation)); });
    std::string const own =
        reads ? "nccl: NCCL has one-sided writes only, no reads" : why_no_puts(method, buffers.kind);
    if (std::string reason = first_refusal(shared.bootstrap, own); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    ncclComm_t const world = shared.communicators.world();
    auto windows = register_signal_windows(plan, buffers, shared.bootstrap, world, registration);
    if (!windows) {
        return windows.error();
    }
    if (std::string reason = first_refusal(shared.bootstrap, shared.communicators.connect_signals()); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    return std::make_unique<OneSidedCalls>(plan, buffers, world, match_signals(plan, shared.bootstrap),
                                           std::move(windows).value());
}

/// Collective. `shared.communicators` are prepared for the plan's groups. `why_no_fp8`: empty when fp8 can be reduced.
MadePlan compile_plan(Plan const& plan, Buffers const& buffers, Method const& asked, std::string const& why_no_fp8,
                      Shared const& shared) {
    if (asked.algorithm) {
        if (std::string reason = why_no_algorithm(*asked.algorithm, plan, shared); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
    }
    Method const method = on_all_ranks(asked, plan, shared.bootstrap);
    CommunicatorLookup const lookup{shared.communicators.world(),
                                    [&](Group const& group) { return shared.communicators.of(group); }};
    Registration registration(shared.communicators);
    std::unique_ptr<OneSidedCalls> one_sided;
    if (any_rank(shared.bootstrap, has_signals(plan))) {
        auto made = one_sided_calls(plan, buffers, method, shared, registration);
        if (!made) {
            return made.error();
        }
        one_sided = std::move(made).value();
    }
    auto items = translate(plan, buffers, lookup, {method.all_to_all, why_no_fp8, one_sided.get()});
    if (std::string reason = first_refusal(shared.bootstrap, why_not(plan, method, items)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    ChannelOrder const sent = channels_sent(items.value());
    ChannelOrder const arriving = channels_arriving(shared.bootstrap, sent);
    if (std::string reason = first_refusal(shared.bootstrap, take_as_sent(items.value(), arriving)); !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    if (std::string reason =
            first_refusal(shared.bootstrap, why_deadlocked(plan, items.value(), lookup, shared.bootstrap));
        !reason.empty()) {
        return Unsupported{std::move(reason)};
    }
    shared.communicators.connect(message_peers(plan.me, sent, arriving));
    if (method.registered) {
        register_buffers(plan, buffers, shared.bootstrap, shared.communicators, registration);
    }
    auto queued =
        std::make_unique<QueuedPlan>(plan, buffers, std::move(items).value(), method, std::move(registration), shared);
    if (method.algorithm) {
        if (std::string reason = first_refusal(shared.bootstrap, queued->try_one_iteration()); !reason.empty()) {
            return Unsupported{std::move(reason)};
        }
    }
    return MadePlan(std::move(queued));
}

class NcclBackend final : public Backend {
public:
    NcclBackend(BackendContext const& context, Gpus gpus)
        : gpus_(std::move(gpus)), why_no_fp8_(why_no_fp8(gpus_)),
          as_nccl_tests_(context.option("nccl", "exchange") == "native"),
          communicators_(context.bootstrap, read_calls(context.option("nccl", "comm"))),
          tuner_(context.bootstrap), shared_{context.bootstrap,
                                             communicators_,
                                             tuner_,
                                             queues_,
                                             Idle(should_yield(context.yield, context.bootstrap)),
                                             context.timeout_ns} {}

    [[nodiscard]] std::string_view name() const override { return "nccl"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table(); }
    [[nodiscard]] std::span<MethodInfo const> methods_on(MemoryKind kind) const override { return plain_methods(kind); }
    /// Equal blocks are sent by groups in PyTorch, and by ncclAlltoAll in nccl-tests where NCCL has it.
    [[nodiscard]] std::vector<MethodInfo> defaults(MemoryKind kind, OperationUse const& use) const override {
        std::vector<MethodInfo> chosen = Backend::defaults(kind, use);
        if (use.kind != OperationKind::exchange || !use.uniform || use.scattered || all_to_all_missing() != nullptr) {
            return chosen;
        }
        if (as_nccl_tests_) {
            chosen.clear();
        }
        chosen.push_back(method_table()[find_method(method_table(), "nccl", "native")]);
        return chosen;
    }
    [[nodiscard]] std::vector<MethodChoice> variants(MemoryKind /*kind*/,
                                                     std::span<OperationUse const> uses) const override {
        return tuner_.why_not().empty() ? algorithm_variants(uses) : std::vector<MethodChoice>{};
    }
    [[nodiscard]] bool supports(MemoryKind kind) const override {
        return kind == MemoryKind::cuda || kind == MemoryKind::nccl;
    }
    [[nodiscard]] Provenance provenance() const override {
        return {{"nccl_version", std::to_string(library_version())},
                {"nccl_headers", std::to_string(NCCL_VERSION_CODE)},
                {"device", std::to_string(gpus_.mine.index)},
                {"shared_gpu", gpus_.shared ? "yes" : "no"},
                {"nccl_comm", std::string(name_of(communicators_.calls()))},
                {"init_ns", std::to_string(communicators_.init_ns())},
                {"host_driven", "no"},
                {"nccl_algorithms", tuner_.why_not().empty() ? "by the tuner plugin" : "none: " + tuner_.why_not()}};
    }

    [[nodiscard]] MadePlan compile(Plan const& plan, Buffers const& buffers, MethodChoice const& choice) override {
        Method const method = read_method(choice);
        if (!supports(buffers.kind)) {
            return Unsupported{fmt::format("nccl takes cuda and nccl memory, not {} memory", name_of(buffers.kind))};
        }
        communicators_.prepare(plan.groups);
        return compile_plan(plan, buffers, method, why_no_fp8_, shared_);
    }

    /// finish() leaves nothing in flight.
    void quiesce() override { shared_.bootstrap.barrier(); }

private:
    Gpus gpus_;
    std::string why_no_fp8_;
    bool as_nccl_tests_;  // equal blocks by the call that nccl-tests takes
    Queues queues_;
    Communicators communicators_;
    Tuner tuner_;
    Shared shared_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    if (context.bootstrap.kind() != "mpi") {
        return Unsupported{"nccl runs one process per GPU; start with mpirun or srun"};
    }
    auto gpus = survey_gpus(context.bootstrap, context.option("nccl", "shared_gpu") == "yes");
    if (!gpus) {
        return gpus.error();
    }
    if (gpus.value().shared) {
        bool const one_host = context.bootstrap.local_size() == context.bootstrap.size();
        apply(shared_gpu_settings(context.bootstrap.rank(), one_host));
    }
    return std::unique_ptr<Backend>(std::make_unique<NcclBackend>(context, std::move(gpus).value()));
}

}  // namespace dlmb::nccl
