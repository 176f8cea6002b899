// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes of each tensor-parallel operation: the published formulas, nothing else.
#pragma once

#include "common/plan/plan.hpp"

#include <cstdint>

namespace dlmb::tp_allreduce {

/// One activation [tokens, hidden], whole: what every collective of a layer works on (Megatron-LM, arXiv 1909.08053,
/// section 3; arXiv 2205.05198, section 4.2.2 for the all-gather and reduce-scatter form).
[[nodiscard]] inline Bytes activation_bytes(std::uint64_t tokens, std::uint64_t hidden, Element element) {
    return tokens * hidden * size_of(element);
}

/// One fp32 value per token: each of the three allreduces of the vocabulary-parallel cross entropy (Megatron-LM,
/// core/tensor_parallel/cross_entropy.py).
[[nodiscard]] inline Bytes cross_entropy_bytes(std::uint64_t tokens) {
    return tokens * size_of(Element::fp32);
}

/// Two norms per layer of `tensors_per_norm` tensors [hidden]: gradients that sequence parallelism leaves partial
/// (Megatron-LM, core/distributed/finalize_model_grads.py). The final norm is not counted, as in AICB's workloads.
[[nodiscard]] inline Bytes norm_gradient_bytes(std::uint64_t layers, std::uint64_t hidden,
                                               std::uint64_t tensors_per_norm, Element element) {
    constexpr std::uint64_t norms_per_layer = 2;
    return layers * norms_per_layer * tensors_per_norm * hidden * size_of(element);
}

/// Five int64 that announce the shapes of the input (Megatron-LM, core/tensor_parallel/data.py).
inline constexpr Bytes input_shape_bytes = 40;

/// The input itself: one int64 per token, and one per rank of the launch, which AICB adds
/// (generate_megatron_workload.py).
[[nodiscard]] inline Bytes input_bytes(std::uint64_t tokens, std::uint64_t ranks) {
    return size_of(Element::int64) * (ranks + tokens);
}

/// The vocabulary, padded so that every rank holds equally many rows.
[[nodiscard]] inline std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp) {
    return (vocabulary + tp - 1) / tp * tp;
}

/// One packed (value, index) int64 per row: greedy sampling without gathering logits.
[[nodiscard]] inline Bytes argmax_bytes(std::uint64_t rows) {
    return rows * size_of(Element::int64);
}

}  // namespace dlmb::tp_allreduce
