// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/sizes.hpp"

namespace dlmb::pipeline_p2p {

Bytes tensor_bytes(TensorShape const& shape) {
    std::uint64_t const parts = shape.cp * (shape.tp_split == TpSplit::sequence_parallel ? shape.tp : 1);
    return shape.micro_batch_size * (shape.sequence / parts) * shape.hidden * shape.element_bytes;
}

Bytes message_bytes(TensorShape const& shape) {
    return tensor_bytes(shape) / (shape.tp_split == TpSplit::scatter_gather ? shape.tp : 1);
}

ProductShape layer_product(TensorShape const& shape) {
    return {.rows = shape.micro_batch_size * (shape.sequence / shape.cp),
            .columns = shape.hidden,
            .inner = (shape.hidden + shape.tp - 1) / shape.tp};
}

Bytes partition_meta_bytes(std::uint64_t tp) {
    constexpr std::uint64_t dimensions = 3;
    return 8 * (1 + dimensions + 2 + tp + 1);
}

Bytes attention_mask_bytes(std::uint64_t sequence) {
    return 2 * sequence * sequence;
}

Bytes tied_embedding_bytes(std::uint64_t vocabulary, std::uint64_t hidden, std::uint64_t tp) {
    return vocabulary / tp * hidden * 4;
}

}  // namespace dlmb::pipeline_p2p
