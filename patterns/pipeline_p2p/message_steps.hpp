// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of messages: in which order those of one transfer are issued, and what one message, or the gathering of one
// tensor, adds to the plan of a rank: peer, channel, label, buffers.
#pragma once

#include "common/plan/builder.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/pipeline_p2p/params.hpp"
#include "patterns/pipeline_p2p/wire_messages.hpp"

#include <vector>

namespace dlmb::pipeline_p2p {

class MessageSteps {
public:
    MessageSteps(Params const& params, WorldShape const& world, Rank me, PlanBuilder& builder, BufferBudget& budget);

    /// A Send or a Recv. `batch` as in the plan.
    StepId post(TensorMessage const& message, WireMessage const& wire, int batch, std::vector<StepId> after);

    /// The AllGather of a received tensor over the tensor-parallel ranks.
    StepId gather(TensorMessage const& message, std::vector<StepId> after);

private:
    void settings(TensorMessage const& message);
    /// Micro-batches are asked for in ascending order, so that all ranks get the same answers.
    bool shares_buffers(int microbatch);

    Params const& params_;
    PlanBuilder& builder_;
    BufferBudget& budget_;
    GroupId chain_;
    GroupId tensor_ranks_;
    std::vector<bool> fits_;  // by micro-batch
};

/// batched (and handshake_data): send_prev, recv_prev, send_next, recv_next. separate: even ranks send_next, recv_prev,
/// send_prev, recv_next; odd ranks recv_prev, send_next, recv_next, send_prev (Megatron-LM p2p_communication.py).
/// meta_data: send_prev, recv_prev, recv_next, send_next (DeepSpeed pipe/schedule.py TrainSchedule). Messages of one
/// kind keep their order.
[[nodiscard]] Transfer in_order_of_issue(Params const& params, int rank, Transfer transfer);

}  // namespace dlmb::pipeline_p2p
