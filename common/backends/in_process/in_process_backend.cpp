// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads: the reference every other backend is compared with, and what runs without MPI, UCX or a GPU. Its
// times say how this process copies, nothing about a network.
#include "common/backend_kit/registry.hpp"
#include "common/backends/in_process/copy_plan.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <fmt/core.h>

#include <array>

namespace dlmb::in_process {
namespace {

constexpr std::array<MethodInfo, 1> method_table{
    {{"copy", "each thread copies from the sender's buffer (memcpy)", every_operation}}};

void check_method(MethodChoice const& method) {
    if (method.name != "default" && method.name != method_table[0].name) {
        std::array<std::string, 2> const known{"default", std::string(method_table[0].name)};
        throw UsageError("in_process: " + unknown_name("method", method.name, known));
    }
    if (!method.knobs.empty()) {
        throw UsageError(
            fmt::format("in_process: method {} has no knobs; '{}' has", method_table[0].name, to_string(method)));
    }
}

/// Nodes of such ranks are made up: all of them share one machine.
bool should_yield(YieldPolicy policy, int ranks) {
    return policy == YieldPolicy::automatic ? ranks > usable_processing_units() : policy == YieldPolicy::always;
}

class InProcessBackend final : public Backend {
public:
    InProcessBackend(InProcessBootstrap& bootstrap, YieldPolicy yield)
        : bootstrap_(bootstrap), idle_(should_yield(yield, bootstrap.size())) {}

    [[nodiscard]] std::string_view name() const override { return "in_process"; }
    [[nodiscard]] std::span<MethodInfo const> methods() const override { return method_table; }
    [[nodiscard]] bool supports(MemoryKind kind) const override { return kind == MemoryKind::host; }
    [[nodiscard]] Provenance provenance() const override {
        return {{"ranks_are", "threads of one process"}, {"yields", idle_.yields() ? "yes" : "no"}};
    }

    [[nodiscard]] Expected<std::unique_ptr<CompiledPlan>, Unsupported> compile(Plan const& plan, Buffers const& buffers,
                                                                               MethodChoice const& method) override {
        check_method(method);
        if (!supports(buffers.kind)) {
            return Unsupported{fmt::format("in_process copies host memory only, not {}", dlmb::name_of(buffers.kind))};
        }
        if (plan.me != bootstrap_.rank() || buffers.base.size() < plan.buffers.size()) {
            throw Error(fmt::format("in_process rank {}: the plan is rank {}'s and names {} buffers, {} are bound",
                                    bootstrap_.rank(), plan.me, plan.buffers.size(), buffers.base.size()));
        }
        // Every compile has an office of its own; the mailboxes live on in the plans of their two ranks.
        auto const office = std::static_pointer_cast<PostOffice>(
            bootstrap_.share(bootstrap_.rank() == 0 ? std::make_shared<PostOffice>() : nullptr));
        std::vector<Work> schedule = make_schedule(plan, buffers, *office);
        bootstrap_.barrier();
        office->check(bootstrap_.rank());
        bootstrap_.barrier();  // all ranks fail together: none is left with a plan that cannot run
        return std::unique_ptr<CompiledPlan>(std::make_unique<CopyPlan>(plan, std::move(schedule), bootstrap_, idle_));
    }

    void quiesce() override { bootstrap_.barrier(); }

private:
    InProcessBootstrap& bootstrap_;
    Idle idle_;
};

}  // namespace

MadeBackend make_backend(BackendContext const& context) {
    auto* const bootstrap = dynamic_cast<InProcessBootstrap*>(&context.bootstrap);
    if (bootstrap == nullptr) {
        return Unsupported{"in_process runs ranks as threads; start the program without mpirun and with --ranks N"};
    }
    return std::unique_ptr<Backend>(std::make_unique<InProcessBackend>(*bootstrap, context.yield));
}

}  // namespace dlmb::in_process
