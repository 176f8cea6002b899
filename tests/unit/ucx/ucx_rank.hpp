// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One thread rank with a ucx backend: plans, buffers and checked iterations.
#pragma once

#include "common/backend_kit/plan_payload.hpp"
#include "common/backends/ucx/ucx_backend.hpp"
#include "common/base/error.hpp"
#include "common/bootstrap/in_process/run_ranks.hpp"
#include "common/plan/builder.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace dlmb::ucx {

using Sizes = std::function<Bytes(Rank from, Rank to)>;

/// One rank: a backend, and plans with buffers of their own.
class UcxRank {
public:
    explicit UcxRank(Bootstrap& bootstrap, MemoryKind kind = MemoryKind::host)
        : bootstrap_(bootstrap), memory_(make_memory_space(kind, why_not_)),
          backend_(std::move(make_backend({bootstrap, YieldPolicy::always})).value()) {}

    Backend& backend() { return *backend_; }

    Plan exchange(Sizes const& sizes) const {
        PlanBuilder builder(bootstrap_.rank());
        std::vector<Bytes> to;
        std::vector<Bytes> from;
        for (Rank peer = 0; peer < bootstrap_.size(); ++peer) {
            to.push_back(sizes(bootstrap_.rank(), peer));
            from.push_back(sizes(peer, bootstrap_.rank()));
        }
        builder.exchange(builder.group(world()), to, from, "dispatch");
        return std::move(builder).finish();
    }

    Group world() const {
        Group group;
        for (Rank rank = 0; rank < bootstrap_.size(); ++rank) {
            group.members.push_back(rank);
        }
        return group;
    }

    Buffers bind(Plan const& plan) {
        Buffers buffers{memory_->kind(), {}};
        for (Buffer const& each : plan.buffers) {
            allocations_.push_back(memory_->allocate(each.bytes));
            buffers.base.push_back(allocations_.back().data());
        }
        return buffers;
    }

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
    std::vector<Allocation> allocations_;
    std::unique_ptr<Backend> backend_;
};

}  // namespace dlmb::ucx
