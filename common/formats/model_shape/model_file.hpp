// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The sizes of a model as its own configuration tells them. Read are, of transformers, `config.json` (Hugging Face) and
// `params.json` (Meta's Llama releases), and of recommendation models the arguments of torchrec's DLRM.
#pragma once

#include "common/formats/plan/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dlmb {

struct EmbeddingTable {
    std::uint64_t rows = 0;
    std::uint64_t dim = 0;  // values per row
};

/// A model of embedding tables and dense layers, as torchrec's DLRM is told it (facebookresearch/dlrm,
/// torchrec_dlrm/dlrm_main.py).
struct RecommendationModel {
    std::vector<EmbeddingTable> tables;
    std::vector<std::uint64_t> indices_per_bag;  // by table; empty: not told
    std::vector<std::uint64_t> dense_layers;     // widths of the MLP before the interaction, its input left out
    std::vector<std::uint64_t> over_layers;      // and of the one behind it
    std::uint64_t cross_layers = 0;              // of interaction dcn; 0: dot products
    std::uint64_t cross_rank = 0;
};

/// Numbers of the model; 0: the file does not tell it.
struct ModelShape {
    std::string source;  // the file or the preset
    std::string name;    // "model_type", or that of the file
    std::uint64_t hidden = 0;
    std::uint64_t layers = 0;
    std::uint64_t attention_free = 0;  // layers without attention
    std::uint64_t shared_keys = 0;     // layers with attention that use the keys and values of another layer
    bool other_mixers = false;         // some layer has no attention, or a state space beside it
    std::uint64_t heads = 0;
    std::uint64_t kv_heads = 0;  // as many as `heads` where the file leaves it out
    std::uint64_t head_dim = 0;  // hidden / heads where the file leaves it out and that is whole; MLA: of its values;
                                 // 0 also where heads of two kinds take turns
    bool query_key_value_bias = false;
    std::uint64_t kv_lora = 0;   // latent attention (MLA): rank of keys and values; 0: it has heads of them
    std::uint64_t q_lora = 0;    // MLA: rank of queries; 0: full
    std::uint64_t rope_dim = 0;  // MLA: rotated values of a head
    std::uint64_t nope_dim = 0;  // MLA: the other values of a head's query and key
    std::uint64_t mlp = 0;       // width of gate and up in a dense layer
    std::uint64_t vocabulary = 0;
    std::uint64_t positions = 0;  // rows of learned position embeddings
    std::uint64_t experts = 0;    // routed ones of a layer; 0: no mixture of experts
    std::uint64_t top_k = 0;
    std::uint64_t expert_mlp = 0;      // width of gate and up in an expert
    std::uint64_t shared_experts = 0;  // experts of a layer that all tokens use
    std::uint64_t dense_layers = 0;    // layers without experts
    bool dense_between = false;        // they are not all in front of those with experts
    std::uint64_t expert_groups = 0;
    std::uint64_t group_limit = 0;
    bool group_of_two_best = false;  // a group of experts competes with its two best
    bool rms_norm = false;
    bool gated_mlp = false;  // three matrices
    bool tied_embeddings = false;
    std::optional<Element> element;      // of its weights
    RecommendationModel recommendation;  // without tables in a transformer
};

/// Throws UsageError that names the file and what it lacks: it is no JSON object, holds neither the size of
/// a transformer nor embedding tables, or a size that is no whole number up to 2^32.
[[nodiscard]] ModelShape read_model(std::filesystem::path const& path);

/// `first`, and of `second` what `first` does not tell.
[[nodiscard]] ModelShape joined(ModelShape first, ModelShape const& second);

}  // namespace dlmb
