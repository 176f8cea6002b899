// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan with buffers in host memory, run over any backend and checked: what the tests of ucx over MPI share.
#pragma once

#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/formats/plan/world.hpp"
#include "common/memory/host_space.hpp"
#include "tests/unit/exchange_step.hpp"
#include "tests/unit/plan_memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace dlmb::ucx {

[[nodiscard]] inline Group world_of(Bootstrap const& bootstrap) {
    return consecutive_group({bootstrap.size(), bootstrap.size()}, 0, bootstrap.size());
}

/// One exchange over all ranks.
[[nodiscard]] inline Plan exchange_plan(Bootstrap const& bootstrap, BytesBetween const& sizes) {
    PlanBuilder builder(bootstrap.rank());
    add_exchange(builder, world_of(bootstrap), bootstrap.rank(), sizes, "exchange");
    return std::move(builder).finish();
}

/// One plan compiled by one backend.
class BoundPlan {
public:
    BoundPlan(Bootstrap& bootstrap, Backend& backend, Plan plan, std::string_view method = "default")
        : BoundPlan(bootstrap, std::move(plan)) {
        compiled_ = std::move(backend.compile(plan_, memory_.buffers, parse_method(method))).value();
    }
    /// nullptr where the method does not take the plan.
    static std::unique_ptr<BoundPlan> unless_unsupported(Bootstrap& bootstrap, Backend& backend, Plan plan,
                                                         std::string_view method) {
        std::unique_ptr<BoundPlan> bound(new BoundPlan(bootstrap, std::move(plan)));
        auto compiled = backend.compile(bound->plan_, bound->memory_.buffers, parse_method(method));
        if (!compiled) {
            return nullptr;
        }
        bound->compiled_ = std::move(compiled).value();
        return bound;
    }

    void prepare(std::uint32_t iteration) { payload_.prepare(iteration); }
    void run() {
        compiled_->launch();
        compiled_->finish();
    }
    void verify(std::uint32_t iteration) {
        for (std::string const& problem : payload_.verify(iteration)) {
            ADD_FAILURE() << "rank " << bootstrap_.rank() << " iteration " << iteration << ": " << problem;
        }
    }
    void run_checked(std::uint32_t iteration) {
        prepare(iteration);
        bootstrap_.barrier();
        compiled_->activate();
        run();
        verify(iteration);
    }
    [[nodiscard]] std::span<PhaseMark const> marks() { return compiled_->marks(); }
    [[nodiscard]] CompiledPlan const& compiled() const { return *compiled_; }

private:
    BoundPlan(Bootstrap& bootstrap, Plan plan)
        : bootstrap_(bootstrap), plan_(std::move(plan)), memory_(space_, plan_),
          payload_(space_, memory_.buffers, plan_) {}

    Bootstrap& bootstrap_;
    Plan plan_;
    HostSpace space_;
    PlanMemory memory_;
    PlanPayload payload_;
    std::unique_ptr<CompiledPlan> compiled_;
};

}  // namespace dlmb::ucx
