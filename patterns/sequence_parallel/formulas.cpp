// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sequence_parallel/formulas.hpp"

namespace dlmb::sequence_parallel {

Bytes local_bytes(Tensor const& tensor, std::uint64_t ranks, Element element) {
    return tensor.batch * (tensor.sequence / ranks) * tensor.heads * tensor.head_dim * size_of(element);
}

Bytes bytes_per_peer(Tensor const& tensor, std::uint64_t ranks, Element element) {
    return local_bytes(tensor, ranks, element) / ranks;
}

}  // namespace dlmb::sequence_parallel
