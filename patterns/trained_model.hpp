// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Models as data parallelism sees them: sizes of parameter tensors, in the order in which frameworks register them.
#pragma once

#include "patterns/model_parameters.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb {

inline constexpr std::uint64_t max_elements = std::uint64_t{1} << 48;  // of a model on one rank

struct ParameterTensor {
    std::uint64_t elements = 0;
    std::uint32_t unit = 0;  // layer or block from 1 on, which FSDP gathers as a whole; 0: what belongs to none
};

struct TrainedModel {
    std::vector<ParameterTensor> tensors;
    std::uint64_t running_statistics = 0;  // fp32 values in buffers of batch norms
    std::uint64_t norm_counters = 0;       // int64 values there

    [[nodiscard]] std::uint64_t elements() const {
        std::uint64_t sum = 0;
        for (ParameterTensor const& tensor : tensors) {
            sum += tensor.elements;
        }
        return sum;
    }
};

[[nodiscard]] std::vector<std::string_view> model_names();

/// Whose modules a transformer is made of: Hugging Face's, or Megatron-LM's, where query, key and value are one tensor,
/// as are gate and up, and the attention's output comes before them (core/transformer/attention.py: SelfAttention
/// makes linear_qkv when its base class has made linear_proj; core/transformer/mlp.py: linear_fc1).
enum class Modules : std::uint8_t { hugging_face, megatron };

/// `name` is one of model_names().
[[nodiscard]] TrainedModel model_named(std::string_view name, Modules modules = Modules::hugging_face);

/// "transformer:layers=32:hidden=4096:mlp=14336:key-values=1024:vocabulary=128256:tied=1:tp=8:pp=4": gated as LLaMA, or
/// as GPT without `mlp`; also queries=4096 (heads times their dimension), positions=1024 (learned) and bias=1 (of
/// query, key and value; a GPT has it). With `tp` and `pp` what one rank has of it: of the last stage, which is the
/// largest one, its share of each matrix as Megatron-LM cuts them (norms and biases of row-parallel layers whole).
/// Megatron-LM's vocabulary is padded (padded_vocabulary()), Hugging Face's only with `tp` or `pp`.
/// Nothing: `text` does not begin so. Throws UsageError that names --model.
[[nodiscard]] std::optional<TrainedModel> transformer_of(std::string_view text,
                                                         Modules modules = Modules::hugging_face);

/// The same the other way round. Throws UsageError for a model with experts, whose gradients are reduced in groups of
/// their own, for one that is neither LLaMA's nor GPT's, and for one that the ranks do not divide.
[[nodiscard]] std::string transformer_text(ModelShape const& model, Parallelism const& parallel);

/// Gradients of one rank: the elements of that model.
[[nodiscard]] std::uint64_t gradients_of(ModelShape const& model, Parallelism const& parallel);

}  // namespace dlmb
