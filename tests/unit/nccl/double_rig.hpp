// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This process as a rank with a GPU: the test double of the CUDA runtime and NCCL (tests/fakes/gpu) is preloaded.
#pragma once

#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/memory/devices.hpp"
#include "tests/unit/plan_memory.hpp"
#include "tests/unit/scoped_variable.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dlmb::nccl {

class RankOnDouble {
public:
    /// `comm`: as --nccl-comm.
    explicit RankOnDouble(Nanoseconds timeout_ns = 0, char const* comm = "", MemoryKind kind = MemoryKind::cuda)
        : bootstrap_(make_mpi_bootstrap()) {
        use_device(bootstrap_->local_rank());
        BackendContext context{*bootstrap_};
        context.timeout_ns = timeout_ns;
        context.options["nccl"]["comm"] = comm;
        backend_ = make_backend("nccl", context).value();
        std::string why_not;
        space_ = make_memory(kind, why_not);
    }

    [[nodiscard]] Bootstrap& bootstrap() { return *bootstrap_; }
    [[nodiscard]] Backend& backend() { return *backend_; }
    [[nodiscard]] Rank me() const { return bootstrap_->rank(); }
    [[nodiscard]] Group world() const { return world_of(bootstrap_->size()); }

    /// Collective, in new buffers.
    [[nodiscard]] auto try_compile(Plan const& plan, char const* method) {
        return backend_->compile(plan, new_buffers(plan), parse_method(method));
    }
    [[nodiscard]] std::unique_ptr<CompiledPlan> compile(Plan const& plan, char const* method) {
        return std::move(try_compile(plan, method)).value();
    }
    [[nodiscard]] std::string refusal(Plan const& plan, char const* method) {
        auto const made = try_compile(plan, method);
        return made ? "compiled" : made.error().reason;
    }

    /// Collective. Of one iteration: what arrived and should not have, or did not.
    [[nodiscard]] std::vector<std::string> problems(Plan const& plan, char const* method) {
        Buffers const buffers = new_buffers(plan);
        PlanPayload payload(*space_, buffers, plan);
        payload.prepare(0);
        auto const compiled = backend_->compile(plan, buffers, parse_method(method)).value();
        compiled->launch();
        compiled->finish();
        return payload.verify(0);
    }

    [[nodiscard]] Buffers new_buffers(Plan const& plan) { return memory_.emplace_back(*space_, plan).buffers; }

private:
    std::unique_ptr<Bootstrap> bootstrap_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<MemorySpace> space_;
    std::vector<PlanMemory> memory_;
};

inline Plan all_reduce_plan(RankOnDouble const& rank) {
    PlanBuilder builder(rank.me());
    builder.all_reduce(builder.group(rank.world()), 1024, Element::fp32, Reduction::sum, "gradients");
    return std::move(builder).finish();
}

}  // namespace dlmb::nccl
