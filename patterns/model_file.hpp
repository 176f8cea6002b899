// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The shape of a transformer as its own configuration tells it, and how ranks divide it: what the parameters of
// patterns follow from. Read are `config.json` of Hugging Face's transformers and `params.json` of Meta's Llama
// releases.
#pragma once

#include "common/plan/plan.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dlmb {

/// Numbers of the model; 0: the file does not tell it.
struct ModelShape {
    std::string source;  // the file or the preset
    std::string name;    // "model_type", or that of the file
    std::uint64_t hidden = 0;
    std::uint64_t layers = 0;
    std::uint64_t heads = 0;
    std::uint64_t kv_heads = 0;  // as many as `heads` where the file leaves it out
    std::uint64_t head_dim = 0;  // hidden / heads where the file leaves it out and that is whole
    std::uint64_t mlp = 0;       // width of gate and up in a dense layer
    std::uint64_t vocabulary = 0;
    std::uint64_t experts = 0;  // routed ones of a layer; 0: no mixture of experts
    std::uint64_t top_k = 0;
    std::uint64_t dense_layers = 0;  // layers without experts
    std::uint64_t expert_groups = 0;
    std::uint64_t group_limit = 0;
    bool group_of_two_best = false;  // a group of experts competes with its two best
    bool rms_norm = false;
    bool tied_embeddings = false;
    std::optional<Element> element;  // of its weights
};

/// Ranks that divide a model; 0: not given.
struct Parallelism {
    std::uint64_t tp = 0;  // tensor
    std::uint64_t pp = 0;  // pipeline
    std::uint64_t ep = 0;  // expert
    std::uint64_t cp = 0;  // context, or sequence
    std::uint64_t dp = 0;  // data
};

/// Throws UsageError that names the file and what it lacks: it is no JSON object, holds no size of a transformer, or
/// one that is no whole number from 1 to 2^32.
[[nodiscard]] ModelShape read_model(std::filesystem::path const& path);

/// The same from the values of a preset: those of its parameters that are sizes of a model.
[[nodiscard]] ModelShape model_of(Preset const& preset);

/// `first`, and of `second` what `first` does not tell.
[[nodiscard]] ModelShape joined(ModelShape first, ModelShape const& second);

/// "tp=8,pp=4". Throws UsageError that names `option`.
[[nodiscard]] Parallelism parse_parallelism(std::string_view text, std::string_view option);

/// The vocabulary as Megatron-LM pads it for `tp` ranks: the next multiple of 128 tp (vocab_utils.py;
/// --make-vocab-size-divisible-by is 128 there).
[[nodiscard]] std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp);

/// Adds up the parameters that a pattern takes from a model. Sizes that are 0 are left out, `needed` ones are refused.
class ModelParameters {
public:
    explicit ModelParameters(ModelShape const& model) : model_(model) {}

    /// Throws UsageError that names the model and `what` it does not tell.
    ModelParameters& needed(std::string_view parameter, std::uint64_t value, std::string_view what);
    ModelParameters& optional(std::string_view parameter, std::uint64_t value);
    ModelParameters& text(std::string_view parameter, std::string_view value);
    /// Left out where models are not trained in it.
    ModelParameters& element();

    [[nodiscard]] Parameters values() const { return values_; }

private:
    ModelShape const& model_;
    Parameters values_;
};

}  // namespace dlmb
