// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/sizes.hpp"

namespace dlmb::tp_allreduce {

Bytes activation_bytes(std::uint64_t tokens, std::uint64_t hidden, Element element) {
    return tokens * hidden * size_of(element);
}

Bytes cross_entropy_bytes(std::uint64_t tokens) {
    return tokens * size_of(Element::fp32);
}

Bytes norm_gradient_bytes(std::uint64_t layers, std::uint64_t hidden, std::uint64_t tensors_per_norm, Element element) {
    constexpr std::uint64_t norms_per_layer = 2;
    return layers * norms_per_layer * tensors_per_norm * hidden * size_of(element);
}

Bytes input_bytes(std::uint64_t tokens, std::uint64_t ranks) {
    return size_of(Element::int64) * (ranks + tokens);
}

std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp) {
    return (vocabulary + tp - 1) / tp * tp;
}

Bytes argmax_bytes(std::uint64_t rows) {
    return rows * size_of(Element::int64);
}

}  // namespace dlmb::tp_allreduce
