// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes of one rank's part of q, k, v or out: the published formula, nothing else.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>

namespace dlmb::sequence_parallel {

/// A tensor [batch, sequence, heads, head_dim] of the whole sequence.
struct Tensor {
    std::uint64_t batch = 1;
    std::uint64_t sequence = 1;
    std::uint64_t heads = 1;
    std::uint64_t head_dim = 1;
};

/// What one of `ranks` ranks holds, its share of the sequence: batch * sequence / ranks * heads * head_dim elements
/// (DeepSpeed Ulysses, arXiv 2309.14509, section 3.2; ring attention, arXiv 2310.01889).
[[nodiscard]] inline Bytes local_bytes(Tensor const& tensor, std::uint64_t ranks, Element element) {
    return tensor.batch * (tensor.sequence / ranks) * tensor.heads * tensor.head_dim * size_of(element);
}

/// What one rank sends each other one so that every rank has all tokens of its heads: local bytes / ranks. `ranks` must
/// divide the heads.
[[nodiscard]] inline Bytes bytes_per_peer(Tensor const& tensor, std::uint64_t ranks, Element element) {
    return local_bytes(tensor, ranks, element) / ranks;
}

}  // namespace dlmb::sequence_parallel
