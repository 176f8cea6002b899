// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One thread rank with a ucx backend: plans, buffers and checked iterations.
#pragma once

#include "common/backend_kit/plan_payload.hpp"
#include "common/backends/ucx/ucx_backend.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "tests/unit/exchange_step.hpp"
#include "tests/unit/plan_memory.hpp"

#include <gtest/gtest.h>

namespace dlmb::ucx {

/// One rank: a backend, and plans with buffers of their own.
class UcxRank {
public:
    explicit UcxRank(Bootstrap& bootstrap, MemoryKind kind = MemoryKind::host)
        : bootstrap_(bootstrap), memory_(make_memory_space(kind, why_not_)),
          backend_(std::move(make_backend({bootstrap, YieldPolicy::always})).value()) {}

    Backend& backend() { return *backend_; }

    Plan exchange(BytesBetween const& sizes) const {
        PlanBuilder builder(bootstrap_.rank());
        add_exchange(builder, world(), bootstrap_.rank(), sizes, "dispatch");
        return std::move(builder).finish();
    }

    /// Rank 1's answer needs rank 0's second step; rank 0's long computation, its first step, stands beside it.
    void answer_beside_computation() {
        PlanBuilder builder(bootstrap_.rank());
        GroupId const all = builder.group(world());
        if (bootstrap_.rank() == 0) {
            builder.compute(20'000'000, "long");
            StepId const asked = builder.send(all, 1, 64, 0, -1, "ask");
            builder.recv(all, 1, 64, 0, -1, "answer", {asked});
        } else {
            builder.send(all, 0, 64, 0, -1, "answer", {builder.recv(all, 0, 64, 0, -1, "ask")});
        }
        Plan const plan = std::move(builder).finish();
        Buffers const buffers = bind(plan);
        auto const compiled = std::move(backend_->compile(plan, buffers, {})).value();
        run(*compiled, plan, buffers, 1);
        if (bootstrap_.rank() == 0) {
            EXPECT_EQ(compiled->marks().back().step, 0U) << "the computation ends last";
        }
    }

    /// Nine collectives in place that wait for nothing; allreduces of `reduced` bytes. Five iterations by each of
    /// several methods.
    void collectives_side_by_side(Bytes reduced) {
        PlanBuilder builder(bootstrap_.rank());
        GroupId const all = builder.group(world());
        builder.in_place(true);
        for (int i = 0; i < 3; ++i) {
            builder.all_reduce(all, reduced, Element::fp32, Reduction::sum, "reduce." + std::to_string(i));
            builder.reduce_scatter(all, reduced / 5 * 8, Element::fp64, Reduction::prod,
                                   "scatter." + std::to_string(i));
            builder.all_gather(all, 8'000, Element::byte, "gather." + std::to_string(i));
        }
        Plan const plan = std::move(builder).finish();
        Buffers const buffers = bind(plan);
        for (char const* const method : {"auto", "ring:segment=4K", "knomial:radix=2", "recursive_doubling"}) {
            auto const compiled = std::move(backend_->compile(plan, buffers, parse_method(method))).value();
            for (std::uint32_t iteration = 0; iteration < 5; ++iteration) {
                run(*compiled, plan, buffers, iteration);
            }
        }
    }

    /// The text of what compile() throws; empty: nothing.
    std::string compile_error(Plan const& plan) {
        try {
            (void)backend_->compile(plan, bind(plan), {});
        } catch (Error const& error) {
            return error.what();
        }
        return "";
    }

    Group world() const { return world_of(bootstrap_.size()); }

    Buffers bind(Plan const& plan) { return bound_.emplace_back(*memory_, plan).buffers; }

    void run(CompiledPlan& compiled, Plan const& plan, Buffers const& buffers, std::uint32_t iteration) {
        PlanPayload payload(*memory_, buffers, plan);
        payload.prepare(iteration);
        bootstrap_.barrier();
        compiled.launch();
        compiled.finish();
        for (std::string const& problem : payload.verify(iteration)) {
            ADD_FAILURE() << "rank " << bootstrap_.rank() << ": " << problem;
        }
    }

private:
    Bootstrap& bootstrap_;
    std::string why_not_;
    std::unique_ptr<MemorySpace> memory_;
    std::vector<PlanMemory> bound_;
    std::unique_ptr<Backend> backend_;
};

}  // namespace dlmb::ucx
