// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The order of messages inside one transfer.
#pragma once

#include "patterns/pipeline_p2p/params.hpp"

namespace dlmb::pipeline_p2p {

/// batched (and handshake_data): send_prev, recv_prev, send_next, recv_next. separate: even ranks send_next, recv_prev,
/// send_prev, recv_next; odd ranks recv_prev, send_next, recv_next, send_prev (Megatron-LM p2p_communication.py).
/// meta_data: send_prev, recv_prev, recv_next, send_next (DeepSpeed pipe/schedule.py TrainSchedule). Messages of one
/// kind keep their order.
[[nodiscard]] Transfer in_order_of_issue(Params const& params, int rank, Transfer transfer);

}  // namespace dlmb::pipeline_p2p
