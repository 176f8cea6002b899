// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A plan with buffers in host memory, run over any backend and checked: what the tests of ucx over MPI share.
#pragma once

#include "common/backend_kit/plan_payload.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/mpi/mpi_bootstrap.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/plan/world.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlmb::ucx {

[[nodiscard]] inline Group world_of(Bootstrap const& bootstrap) {
    return consecutive_group({bootstrap.size(), bootstrap.size()}, 0, bootstrap.size());
}

/// Bytes from rank to rank as one exchange over all ranks.
template <class Sizes>
[[nodiscard]] Plan exchange_plan(Bootstrap const& bootstrap, Sizes const& sizes) {
    PlanBuilder builder(bootstrap.rank());
    std::vector<Bytes> to;
    std::vector<Bytes> from;
    for (Rank peer = 0; peer < bootstrap.size(); ++peer) {
        to.push_back(sizes(bootstrap.rank(), peer));
        from.push_back(sizes(peer, bootstrap.rank()));
    }
    builder.exchange(builder.group(world_of(bootstrap)), to, from, "exchange");
    return std::move(builder).finish();
}

/// One plan compiled by one backend.
class BoundPlan {
public:
    BoundPlan(Bootstrap& bootstrap, Backend& backend, Plan plan, std::string_view method = "default")
        : BoundPlan(bootstrap, std::move(plan)) {
        compiled_ = std::move(backend.compile(plan_, buffers_, parse_method(method))).value();
    }
    /// nullptr where the method does not take the plan.
    static std::unique_ptr<BoundPlan> unless_unsupported(Bootstrap& bootstrap, Backend& backend, Plan plan,
                                                         std::string_view method) {
        std::unique_ptr<BoundPlan> bound(new BoundPlan(bootstrap, std::move(plan)));
        auto compiled = backend.compile(bound->plan_, bound->buffers_, parse_method(method));
        if (!compiled) {
            return nullptr;
        }
        bound->compiled_ = std::move(compiled).value();
        return bound;
    }

    void prepare(std::uint32_t iteration) { payload_->prepare(iteration); }
    void run() {
        compiled_->launch();
        compiled_->finish();
    }
    void verify(std::uint32_t iteration) {
        for (std::string const& problem : payload_->verify(iteration)) {
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
        : bootstrap_(bootstrap), plan_(std::move(plan)), memory_(make_memory_space(MemoryKind::host, why_not_)) {
        for (Buffer const& each : plan_.buffers) {
            allocations_.push_back(memory_->allocate(each.bytes));
            buffers_.base.push_back(allocations_.back().data());
        }
        payload_ = std::make_unique<PlanPayload>(*memory_, buffers_, plan_);
    }

    Bootstrap& bootstrap_;
    Plan plan_;
    std::string why_not_;
    std::unique_ptr<MemorySpace> memory_;
    std::vector<Allocation> allocations_;
    Buffers buffers_;
    std::unique_ptr<PlanPayload> payload_;
    std::unique_ptr<CompiledPlan> compiled_;
};

}  // namespace dlmb::ucx
