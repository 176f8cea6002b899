// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/parts.hpp"

#include <fmt/core.h>

namespace dlmb::pipeline_p2p {
namespace {

/// The pipe where there are several, else the earlier of the two stages where ranks have several.
std::string suffix_of(Params const& params, Message const& message) {
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

std::vector<Part> parts_of(Params const& params, Direction direction) {
    bool const forward = direction == Direction::forward;
    std::vector<Part> parts;
    if (params.mode == Mode::handshake_data) {
        parts.push_back({PartKind::shape, shape_handshake_bytes});
    }
    if (params.mode == Mode::meta_data) {
        if (params.dynamic_shape && forward) {
            parts.push_back({PartKind::tensor_meta, tensor_meta_bytes});
        }
        if (params.gathers()) {
            parts.push_back({PartKind::partition_meta, partition_meta_bytes(params.tensor.tp)});
        }
    }
    parts.push_back({PartKind::data, message_bytes(params.tensor)});
    if (params.attention_mask && forward) {
        parts.push_back({PartKind::mask, attention_mask_bytes(params.tensor.sequence)});
    }
    return parts;
}

std::string label_of(Params const& params, Message const& message, PartKind kind) {
    bool const forward = message.direction == Direction::forward;
    char const* text = forward ? "forward" : "backward";
    if (kind == PartKind::mask) {
        return fmt::format("{}.mask{}", text, suffix_of(params, message));
    }
    return fmt::format("{}{}{}", kind == PartKind::data ? "" : "meta.", text, suffix_of(params, message));
}

std::string gather_label_of(Params const& params, Message const& message) {
    return fmt::format("{}.gather{}", message.direction == Direction::forward ? "forward" : "backward",
                       suffix_of(params, message));
}

int channel_of(Message const& message, PartKind kind) {
    constexpr int kinds = 5;
    int const stream = 2 * message.pipe + (message.direction == Direction::backward ? 1 : 0);
    return stream * kinds + static_cast<int>(kind);
}

Bytes buffer_bytes_per_microbatch(Params const& params) {
    Bytes own = 0;
    for (Direction const direction : {Direction::forward, Direction::backward}) {
        for (Part const& part : parts_of(params, direction)) {
            own += 2 * part.bytes;
        }
    }
    if (params.gathers()) {
        own += 2 * (tensor_bytes(params.tensor) + message_bytes(params.tensor));
    }
    return own * static_cast<Bytes>(stages_per_pipe(params.shape) / params.shape.ranks);
}

}  // namespace dlmb::pipeline_p2p
