// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of pipeline_p2p, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/formats/plan/plan.hpp"
#include "common/formats/plan/world.hpp"
#include "patterns/pattern.hpp"
#include "patterns/pipeline_p2p/fill.hpp"
#include "patterns/pipeline_p2p/makespan.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace dlmb::pipeline_p2p {

/// How the messages of one transfer are issued; README.md says who waits for what.
enum class MessageMode : std::uint8_t { batched, separate, meta_data, handshake_data };

/// How tensor parallelism treats the tensors between stages. none: every tensor rank sends all of it.
/// sequence_parallel: it holds and sends its part of the sequence. scatter_gather: it sends its part of the elements
/// and the receivers gather them (Megatron-LM before sequence parallelism; DeepSpeed's partitioned activations).
enum class TpSplit : std::uint8_t { none, sequence_parallel, scatter_gather };

struct Params {
    ScheduleShape shape;  // shape.ranks is the pipeline size
    int tp = 1;           // fastest in rank order; then cp, dp, and the pipeline slowest
    int cp = 1;
    int dp = 1;
    std::uint64_t micro_batch_size = 1;  // sequences
    std::uint64_t sequence = 1;          // tokens
    std::uint64_t hidden = 1;            // values per token
    TpSplit tp_split = TpSplit::none;
    Element element = Element::bf16;
    MessageMode mode = MessageMode::batched;
    bool attention_mask = false;
    bool dynamic_shape = false;
    bool loss = false;
    std::uint64_t vocabulary = 0;  // 0: embeddings are not tied
    Bytes gradient_bytes = 0;      // of one stage, Chimera; 0: no synchronisation
    bool computes = false;
    std::optional<ProductShape> product;  // what a computation multiplies; nullopt: it watches the clock
    Durations durations;                  // of one pass through one stage: ns with compute, slots without
    std::vector<FillItem> fill;           // extra work; with compute only
    double fill_reserve = 0.05;
    Bytes memory_limit = 0;

    /// Ranks of one stage: neighbours in the chain are so far apart.
    [[nodiscard]] int stage_width() const { return tp * cp * dp; }
    [[nodiscard]] bool gathers() const { return tp > 1 && tp_split == TpSplit::scatter_gather; }
    /// The sequence is cut into so many parts.
    [[nodiscard]] std::uint64_t sequence_parts() const {
        return static_cast<std::uint64_t>(cp) *
               static_cast<std::uint64_t>(tp_split == TpSplit::sequence_parallel ? tp : 1);
    }
    /// b * (s / cp / (tp if sequence-parallel)) * h * e: what the next stage works on (Megatron-LM get_tensor_shapes).
    [[nodiscard]] Bytes tensor_bytes() const {
        return micro_batch_size * (sequence / sequence_parts()) * hidden * size_of(element);
    }
    /// The bytes that one rank sends: all, or 1 / tp with scatter_gather.
    [[nodiscard]] Bytes message_bytes() const { return tensor_bytes() / (gathers() ? static_cast<Bytes>(tp) : 1); }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::pipeline_p2p
