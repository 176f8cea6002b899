// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of pipeline_p2p, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/plan/plan.hpp"
#include "common/plan/world.hpp"
#include "patterns/pattern.hpp"
#include "patterns/pipeline_p2p/layout.hpp"
#include "patterns/pipeline_p2p/makespan.hpp"
#include "patterns/pipeline_p2p/sizes.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace dlmb::pipeline_p2p {

/// How the messages of one transfer are issued; README.md says who waits for what.
enum class Mode : std::uint8_t { batched, separate, meta_data, handshake_data };

struct Params {
    Shape shape;  // shape.ranks is the pipeline size
    int tp = 1;   // fastest in rank order; then cp, dp, and the pipeline slowest
    int cp = 1;
    int dp = 1;
    TensorShape tensor;
    Element element = Element::bf16;
    Mode mode = Mode::batched;
    bool attention_mask = false;
    bool dynamic_shape = false;
    bool loss = false;
    std::uint64_t vocabulary = 0;  // 0: embeddings are not tied
    Bytes gradient_bytes = 0;      // of one stage, Chimera; 0: no synchronisation
    bool computes = false;
    std::optional<ProductShape> product;  // what a computation multiplies; nullopt: it watches the clock
    Durations durations;                  // of one pass through one stage: ns with compute, slots without
    Bytes memory_limit = 0;

    /// Ranks of one stage: neighbours in the chain are so far apart.
    [[nodiscard]] int stage_width() const { return tp * cp * dp; }
    [[nodiscard]] bool gathers() const { return tp > 1 && tensor.tp_split == TpSplit::scatter_gather; }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

/// Fills all but `ranks`, which must be known, and `overlapped`. Throws UsageError.
void read_shape(Parameters const& parameters, Shape& shape);

/// What handshake_data cannot run. Throws UsageError.
void check_handshakes(Shape const& shape);

}  // namespace dlmb::pipeline_p2p
