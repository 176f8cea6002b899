// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Adds the steps of one message, or of the gathering of one tensor, to the plan of a rank: peer, channel, label,
// buffers.
#pragma once

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/pipeline_p2p/parts.hpp"

#include <vector>

namespace dlmb::pipeline_p2p {

class Poster {
public:
    Poster(Params const& params, WorldShape const& world, Rank me, PlanBuilder& builder, BufferBudget& budget);

    /// A Send or a Recv. `batch` as in the plan.
    StepId post(Message const& message, Part const& part, int batch, std::vector<StepId> after);

    /// The AllGather of a received tensor over the tensor-parallel ranks.
    StepId gather(Message const& message, std::vector<StepId> after);

private:
    void settings(Message const& message);
    /// Micro-batches are asked for in ascending order, so that all ranks get the same answers.
    bool shares_buffers(int microbatch);

    Params const& params_;
    PlanBuilder& builder_;
    BufferBudget& budget_;
    GroupId chain_;
    GroupId tensor_ranks_;
    std::vector<bool> fits_;  // by micro-batch
};

}  // namespace dlmb::pipeline_p2p
