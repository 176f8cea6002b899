// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The collectives that end an iteration: gradients of replicated stages, of a shared embedding, and the loss. Groups
// are in Megatron's rank order: tensor, context, data, pipeline, fastest first.
#pragma once

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/pipeline_p2p/params.hpp"

#include <optional>
#include <set>
#include <vector>

namespace dlmb::pipeline_p2p {

/// One rank of every stage: a rank's place in it is its place in the chain.
[[nodiscard]] Group chain_of(Params const& params, WorldShape const& world, Rank me);

class FinalCollectives {
public:
    FinalCollectives(Params const& params, WorldShape const& world, Rank me)
        : params_(params), world_(world), me_(me) {}

    /// Takes the bytes of the large ones first, alike on all ranks.
    void reserve(BufferBudget& budget);

    /// A barrier (AllReduce of one int32) and the AllReduce, as Chimera's repository has them. One after
    /// the other on a rank; no pass waits for them.
    void synchronise(PlanBuilder& builder, GradientSync const& sync, std::vector<StepId> const& after);

    /// Embedding, then loss.
    void finish(PlanBuilder& builder, std::vector<StepId> after);

private:
    /// Ranks of the chain that hold the first or the last stage.
    [[nodiscard]] std::set<int> embedding_places() const;
    void reduce_tied_embedding(PlanBuilder& builder, std::vector<StepId>& after);
    void share_loss(PlanBuilder& builder, std::vector<StepId>& after);

    Params params_;
    WorldShape world_;
    Rank me_;
    bool gradients_fit_ = true;
    bool embedding_fits_ = true;
    std::optional<StepId> last_sync_;
};

}  // namespace dlmb::pipeline_p2p
