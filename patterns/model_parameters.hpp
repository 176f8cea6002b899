// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks divide a model, and the parameters of a pattern that follow from both.
#pragma once

#include "patterns/model_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dlmb {

/// Ranks that divide a model; 0: not given.
struct Parallelism {
    std::uint64_t tp = 0;  // tensor
    std::uint64_t pp = 0;  // pipeline
    std::uint64_t ep = 0;  // expert
    std::uint64_t cp = 0;  // context, or sequence
    std::uint64_t dp = 0;  // data
};

/// "tp=8,pp=4". Throws UsageError that names `option`.
[[nodiscard]] Parallelism parse_parallelism(std::string_view text, std::string_view option);

/// The vocabulary as Megatron-LM pads it for `tp` ranks: the next multiple of 128 tp (vocab_utils.py;
/// --make-vocab-size-divisible-by is 128 there).
[[nodiscard]] std::uint64_t padded_vocabulary(std::uint64_t vocabulary, std::uint64_t tp);

/// Adds up the parameters that a pattern takes from a model. Sizes that are 0 are left out, or missing where needed.
class ModelParameters {
public:
    explicit ModelParameters(ModelShape const& model) : model_(model) {}

    /// `what`: the words for it where the model does not tell it.
    ModelParameters& needed(std::string_view parameter, std::uint64_t value, std::string_view what);
    ModelParameters& optional(std::string_view parameter, std::uint64_t value);
    ModelParameters& text(std::string_view parameter, std::string_view value);
    /// Left out where models are not trained in it.
    ModelParameters& element();

    [[nodiscard]] ModelDerived derived() const { return derived_; }

private:
    ModelShape const& model_;
    ModelDerived derived_;
};

}  // namespace dlmb
