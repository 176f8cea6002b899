// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameter tensors of a transformer, as far as it matters who has which part of them.
#pragma once

#include "patterns/reshard/layout.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace dlmb::reshard {

/// Sizes of a transformer without biases (LLaMA, arXiv 2302.13971), with grouped-query attention or, where kv_lora is
/// above 0, multi-head latent attention (DeepSeek-V2, arXiv 2405.04434), dense or with experts in all layers but the
/// first `dense_layers`.
struct ModelSizes {
    std::uint64_t hidden = 0;
    std::uint64_t layers = 0;
    std::uint64_t dense_layers = 0;
    std::uint64_t heads = 0;
    std::uint64_t kv_heads = 0;
    std::uint64_t head_dim = 0;  // latent attention: also of the values and of what is not rotated
    bool qk_norm = false;        // norms of queries and keys (Qwen3)
    std::uint64_t q_lora = 0;
    std::uint64_t kv_lora = 0;
    std::uint64_t rope_dim = 0;
    std::uint64_t mlp = 0;
    bool gated = true;  // MLPs and experts have a gate beside up and down
    std::uint64_t experts = 0;
    std::uint64_t expert_mlp = 0;
    std::uint64_t shared_experts = 0;
    std::uint64_t vocabulary = 0;
    bool tied = false;  // the head is the embedding
};

/// How tensor parallelism cuts. whole: not. even: each rank its part() of the units. shared_heads: heads of keys and
/// values, each on all ranks that have queries for it (more ranks than heads: copies, as Megatron-LM and vLLM).
enum class Cut { whole, even, shared_heads };

/// Which pipeline stages have it. layers: those that have its layers. ends: the first and the last one.
enum class Stages { layers, first, last, ends };

/// Tensors that are cut alike: [layers, experts, units, unit_elements]. Rows of a column-parallel matrix and columns of
/// a row-parallel one are both `units` (Megatron-LM, arXiv 1909.08053: q, k, v, gate and up are column parallel, output
/// and down row parallel).
struct WeightGroup {
    std::string_view name;
    Stages stages = Stages::layers;
    Range layers{0, 1};
    std::uint64_t experts = 1;
    bool expert_parallel = false;
    Cut cut = Cut::whole;
    std::uint64_t units = 1;
    std::uint64_t unit_elements = 0;

    /// Exact up to 2^53; absurd sizes go beyond 2^64.
    [[nodiscard]] double elements() const {
        return static_cast<double>(layers.size()) * static_cast<double>(experts) * static_cast<double>(units) *
               static_cast<double>(unit_elements);
    }
};

/// The groups of the model that have elements.
[[nodiscard]] std::vector<WeightGroup> weights_of(ModelSizes const& model);

/// Parts by coordinate of pp, ep and tp. `layers`: of the whole model, which stages divide evenly.
[[nodiscard]] std::vector<Range> stage_parts(WeightGroup const& group, std::uint64_t layers, int pp);
[[nodiscard]] std::vector<Range> expert_parts(WeightGroup const& group, int ep);
[[nodiscard]] std::vector<Range> unit_parts(WeightGroup const& group, int tp);

}  // namespace dlmb::reshard
