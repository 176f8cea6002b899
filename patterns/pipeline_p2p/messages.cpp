// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/messages.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb::pipeline_p2p {
namespace {

/// Places in the order of issue of what is sent to, or received from, the previous and the next stage along the pipe.
struct Places {
    int send_prev;
    int recv_prev;
    int send_next;
    int recv_next;
};

Places places(MessageMode mode, int rank) {
    switch (mode) {
    case MessageMode::separate:
        return rank % 2 == 0 ? Places{2, 1, 0, 3} : Places{3, 0, 1, 2};
    case MessageMode::meta_data:
        return {0, 1, 3, 2};
    case MessageMode::batched:
    case MessageMode::handshake_data:
        break;
    }
    return {0, 1, 2, 3};
}

/// The label of a tensor's part; behind it the pipe where there are several, else the earlier of the two stages where
/// ranks have several.
std::string label(Params const& params, TensorMessage const& message, char const* before, char const* behind) {
    bool const forward = message.direction == Direction::forward;
    std::string text = fmt::format("{}{}{}", before, forward ? "forward" : "backward", behind);
    if (pipes_of(params.shape) > 1) {
        return fmt::format("{}.{}", text, message.pipe);
    }
    if (stages_per_rank(params.shape) > 1) {
        bool const later = forward == message.incoming;
        return fmt::format("{}.{}", text, later ? message.stage - 1 : message.stage);
    }
    return text;
}

}  // namespace

TensorTransfer in_order_of_issue(Params const& params, int rank, TensorTransfer transfer) {
    Places const order = places(params.mode, rank);
    auto const place = [&](TensorMessage const& message) {
        if (message.direction == Direction::forward) {
            return message.incoming ? order.recv_prev : order.send_next;
        }
        return message.incoming ? order.recv_next : order.send_prev;
    };
    std::stable_sort(transfer.begin(), transfer.end(),
                     [&](TensorMessage const& a, TensorMessage const& b) { return place(a) < place(b); });
    return transfer;
}

std::vector<WireMessage> wire_messages_of(Params const& params, Direction direction) {
    bool const forward = direction == Direction::forward;
    std::vector<WireMessage> messages;
    if (params.mode == MessageMode::handshake_data) {
        // Megatron-LM variable_seq_lengths: the shape as int64[3].
        messages.push_back({WireMessageKind::shape, 24});
    }
    if (params.mode == MessageMode::meta_data) {
        if (params.dynamic_shape && forward) {
            // DeepSpeed pipe/engine.py: the description of a tuple of tensors, int32[256].
            messages.push_back({WireMessageKind::tensor_meta, 1024});
        }
        if (params.gathers()) {
            // DeepSpeed PartitionedTensor.to_meta of a [s, b, h] tensor: (1 + 3 + 2 + tp + 1) int64.
            Bytes const numbers = 1 + 3 + 2 + static_cast<Bytes>(params.tp) + 1;
            messages.push_back({WireMessageKind::partition_meta, 8 * numbers});
        }
    }
    messages.push_back({WireMessageKind::data, params.message_bytes()});
    if (params.attention_mask && forward) {
        // GPT-NeoX: the mask [1, 1, s, s] as fp16.
        messages.push_back({WireMessageKind::mask, 2 * params.sequence * params.sequence});
    }
    return messages;
}

std::string label_of(Params const& params, TensorMessage const& message, WireMessageKind kind) {
    bool const tensor = kind == WireMessageKind::data || kind == WireMessageKind::mask;
    return label(params, message, tensor ? "" : "meta.", kind == WireMessageKind::mask ? ".mask" : "");
}

std::string gather_label_of(Params const& params, TensorMessage const& message) {
    return label(params, message, "", ".gather");
}

int channel_of(TensorMessage const& message, WireMessageKind kind) {
    constexpr int kinds = 5;
    int const stream = 2 * message.pipe + (message.direction == Direction::backward ? 1 : 0);
    return stream * kinds + static_cast<int>(kind);
}

Bytes buffer_bytes_per_microbatch(Params const& params) {
    Bytes own = 0;
    for (Direction const direction : {Direction::forward, Direction::backward}) {
        for (WireMessage const& wire : wire_messages_of(params, direction)) {
            own += 2 * wire.bytes;
        }
    }
    if (params.gathers()) {
        own += 2 * (params.tensor_bytes() + params.message_bytes());
    }
    return own * static_cast<Bytes>(stages_per_pipe(params.shape) / params.shape.ranks);
}

}  // namespace dlmb::pipeline_p2p
