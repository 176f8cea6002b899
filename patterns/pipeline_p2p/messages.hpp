// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The messages of tensors: in which order those of one transfer are issued, and what one tensor between stages consists
// of on the wire: small messages ahead of it or behind it (in DeepSpeed's order: description, partition, tensor, mask).
#pragma once

#include "patterns/pipeline_p2p/params.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlmb::pipeline_p2p {

/// batched (and handshake_data): send_prev, recv_prev, send_next, recv_next. separate: even ranks send_next, recv_prev,
/// send_prev, recv_next; odd ranks recv_prev, send_next, recv_next, send_prev (Megatron-LM p2p_communication.py).
/// meta_data: send_prev, recv_prev, recv_next, send_next (DeepSpeed pipe/schedule.py TrainSchedule). Messages of one
/// kind keep their order.
[[nodiscard]] TensorTransfer in_order_of_issue(Params const& params, int rank, TensorTransfer transfer);

enum class WireMessageKind : std::uint8_t { data, shape, tensor_meta, partition_meta, mask };

struct WireMessage {
    WireMessageKind kind = WireMessageKind::data;
    Bytes bytes = 0;
};

/// In the order in which they are sent.
[[nodiscard]] std::vector<WireMessage> wire_messages_of(Params const& params, Direction direction);

/// "forward", "forward.mask", "meta.backward"; of several pipes or stages per rank with the pipe's number or the number
/// of the earlier stage behind.
[[nodiscard]] std::string label_of(Params const& params, TensorMessage const& message, WireMessageKind kind);
/// "forward.gather" with the same number behind.
[[nodiscard]] std::string gather_label_of(Params const& params, TensorMessage const& message);

/// Streams between one pair of ranks whose order is the same at both ends: one per pipe, direction and kind.
[[nodiscard]] int channel_of(TensorMessage const& message, WireMessageKind kind);

/// Upper bound of the bytes of buffers that one micro-batch needs on a rank, the same on all ranks.
[[nodiscard]] Bytes buffer_bytes_per_microbatch(Params const& params);

}  // namespace dlmb::pipeline_p2p
