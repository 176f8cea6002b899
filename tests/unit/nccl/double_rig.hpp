// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This process as a rank with a GPU: the test double of the CUDA runtime and NCCL (tests/fakes/gpu) is preloaded.
#pragma once

#include "common/backend/registry.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/memory/devices.hpp"
#include "common/plan/builder.hpp"

#include <memory>
#include <vector>

namespace dlmb::nccl {

class RankOnDouble {
public:
    explicit RankOnDouble(Nanoseconds timeout_ns = 0) : bootstrap_(make_mpi_bootstrap()) {
        use_device(bootstrap_->local_rank());
        BackendContext context{*bootstrap_};
        context.timeout_ns = timeout_ns;
        backend_ = make_backend("nccl", context).value();
        std::string why_not;
        space_ = make_memory(MemoryKind::cuda, why_not);
    }

    [[nodiscard]] Bootstrap& bootstrap() { return *bootstrap_; }
    [[nodiscard]] Backend& backend() { return *backend_; }
    [[nodiscard]] Rank me() const { return bootstrap_->rank(); }
    [[nodiscard]] Group world() const {
        Group group;
        for (Rank rank = 0; rank < bootstrap_->size(); ++rank) {
            group.members.push_back(rank);
        }
        return group;
    }

    /// Collective, in new buffers.
    [[nodiscard]] auto try_compile(Plan const& plan, char const* method) {
        Buffers buffers{MemoryKind::cuda, {}};
        for (Buffer const& buffer : plan.buffers) {
            memory_.push_back(space_->allocate(buffer.bytes));
            buffers.base.push_back(memory_.back().data());
        }
        return backend_->compile(plan, buffers, parse_method(method));
    }
    [[nodiscard]] std::unique_ptr<CompiledPlan> compile(Plan const& plan, char const* method) {
        return std::move(try_compile(plan, method)).value();
    }
    [[nodiscard]] std::string refusal(Plan const& plan, char const* method) {
        auto const made = try_compile(plan, method);
        return made ? "compiled" : made.error().reason;
    }

private:
    std::unique_ptr<Bootstrap> bootstrap_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<MemorySpace> space_;
    std::vector<Allocation> memory_;
};

inline Plan all_reduce_plan(RankOnDouble const& rank) {
    PlanBuilder builder(rank.me());
    builder.all_reduce(builder.group(rank.world()), 1024, Element::fp32, Reduction::sum, "gradients");
    return std::move(builder).finish();
}

}  // namespace dlmb::nccl
