// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes of one message: the published formulas, nothing else. All results fit 64 bits for the ranges of params.cpp.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>

namespace dlmb::pipeline_p2p {

/// What tensor parallelism does to the tensors between stages. none: every tensor rank sends all of it.
/// sequence_parallel: it holds and sends its part of the sequence. scatter_gather: it sends its part of the elements
/// and the receivers gather them (Megatron-LM before sequence parallelism; DeepSpeed's partitioned activations).
enum class TpSplit : std::uint8_t { none, sequence_parallel, scatter_gather };

struct TensorShape {
    std::uint64_t micro_batch_size = 1;  // sequences
    std::uint64_t sequence = 1;          // tokens
    std::uint64_t hidden = 1;            // values per token
    Bytes element_bytes = 2;
    std::uint64_t tp = 1;
    std::uint64_t cp = 1;
    TpSplit tp_split = TpSplit::none;
};

/// b * (s / cp / (tp if sequence-parallel)) * h * e: what the next stage works on (Megatron-LM get_tensor_shapes).
[[nodiscard]] inline Bytes tensor_bytes(TensorShape const& shape) {
    std::uint64_t const parts = shape.cp * (shape.tp_split == TpSplit::sequence_parallel ? shape.tp : 1);
    return shape.micro_batch_size * (shape.sequence / parts) * shape.hidden * shape.element_bytes;
}

/// What one rank sends of it: all, or 1 / tp with scatter_gather.
[[nodiscard]] inline Bytes message_bytes(TensorShape const& shape) {
    return tensor_bytes(shape) / (shape.tp_split == TpSplit::scatter_gather ? shape.tp : 1);
}

/// The output projection of a layer's attention on one rank: the b * s / cp tokens of a micro-batch times that rank's
/// h / tp rows of the h x h weights (Megatron-LM RowParallelLinear). Its backward products have as many
/// multiplications.
[[nodiscard]] inline ProductShape layer_product(TensorShape const& shape) {
    return {.rows = shape.micro_batch_size * (shape.sequence / shape.cp),
            .columns = shape.hidden,
            .inner = (shape.hidden + shape.tp - 1) / shape.tp};
}

/// Megatron-LM variable_seq_lengths: the shape as int64[3], ahead of each tensor.
inline constexpr Bytes shape_handshake_bytes = 24;

/// DeepSpeed pipe/engine.py: the description of a tuple of tensors, int32[256].
inline constexpr Bytes tensor_meta_bytes = 1024;

/// DeepSpeed PartitionedTensor.to_meta of a [s, b, h] tensor: (1 + 3 + 2 + tp + 1) int64.
[[nodiscard]] inline Bytes partition_meta_bytes(std::uint64_t tp) {
    constexpr std::uint64_t dimensions = 3;
    return 8 * (1 + dimensions + 2 + tp + 1);
}

/// GPT-NeoX: the mask [1, 1, s, s] travels with the activations as fp16.
[[nodiscard]] inline Bytes attention_mask_bytes(std::uint64_t sequence) {
    return 2 * sequence * sequence;
}

/// Gradients of the word embedding, V / tp rows of h in fp32.
[[nodiscard]] inline Bytes tied_embedding_bytes(std::uint64_t vocabulary, std::uint64_t hidden, std::uint64_t tp) {
    return vocabulary / tp * hidden * 4;
}

/// DeepSpeed _aggregate_total_loss: two fp32 scalars from the last stage; one before that over data-parallel ranks.
inline constexpr Bytes loss_broadcast_bytes = 8;
inline constexpr Bytes loss_reduction_bytes = 4;

}  // namespace dlmb::pipeline_p2p
