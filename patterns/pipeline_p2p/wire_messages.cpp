// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/wire_messages.hpp"

#include <fmt/core.h>

namespace dlmb::pipeline_p2p {
namespace {

/// The pipe where there are several, else the earlier of the two stages where ranks have several.
std::string suffix_of(Params const& params, TensorMessage const& message) {
    if (pipes_of(params.shape) > 1) {
        return fmt::format(".{}", message.pipe);
    }
    if (stages_per_rank(params.shape) > 1) {
        bool const later = (message.direction == Direction::forward) == message.incoming;
        return fmt::format(".{}", later ? message.stage - 1 : message.stage);
    }
    return "";
}

}  // namespace

std::vector<WireMessage> wire_messages_of(Params const& params, Direction direction) {
    bool const forward = direction == Direction::forward;
    std::vector<WireMessage> messages;
    if (params.mode == Mode::handshake_data) {
        messages.push_back({WireMessageKind::shape, shape_handshake_bytes});
    }
    if (params.mode == Mode::meta_data) {
        if (params.dynamic_shape && forward) {
            messages.push_back({WireMessageKind::tensor_meta, tensor_meta_bytes});
        }
        if (params.gathers()) {
            messages.push_back({WireMessageKind::partition_meta, partition_meta_bytes(params.tensor.tp)});
        }
    }
    messages.push_back({WireMessageKind::data, message_bytes(params.tensor)});
    if (params.attention_mask && forward) {
        messages.push_back({WireMessageKind::mask, attention_mask_bytes(params.tensor.sequence)});
    }
    return messages;
}

std::string label_of(Params const& params, TensorMessage const& message, WireMessageKind kind) {
    bool const forward = message.direction == Direction::forward;
    char const* text = forward ? "forward" : "backward";
    if (kind == WireMessageKind::mask) {
        return fmt::format("{}.mask{}", text, suffix_of(params, message));
    }
    return fmt::format("{}{}{}", kind == WireMessageKind::data ? "" : "meta.", text, suffix_of(params, message));
}

std::string gather_label_of(Params const& params, TensorMessage const& message) {
    return fmt::format("{}.gather{}", message.direction == Direction::forward ? "forward" : "backward",
                       suffix_of(params, message));
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
        own += 2 * (tensor_bytes(params.tensor) + message_bytes(params.tensor));
    }
    return own * static_cast<Bytes>(stages_per_pipe(params.shape) / params.shape.ranks);
}

}  // namespace dlmb::pipeline_p2p
