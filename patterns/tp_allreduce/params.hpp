// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The parameters of tp_allreduce, read strictly and checked against the world: after this, nothing can be wrong.
#pragma once

#include "common/plan/world.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>

namespace dlmb::tp_allreduce {

enum class Phase { training, prefill, decode };
/// Which form embedding and logits take under sequence parallelism; README.md explains both.
enum class Edges { allreduce, scatter };
enum class Logits { none, allgather, argmax };

struct Params {
    Phase phase = Phase::training;
    std::uint64_t batch = 1;     // sequences
    std::uint64_t sequence = 1;  // tokens of one sequence; not read by decode
    std::uint64_t drafts = 0;    // decode: tokens drafted and checked per step, besides the one that is certain
    std::uint32_t steps = 1;     // decode: tokens generated in one iteration
    std::uint64_t hidden = 1;
    std::uint64_t vocabulary = 1;
    std::uint32_t layers = 1;  // of the whole model
    int tp = 1;                // ranks of a group
    int pp = 1;                // pipeline stages
    bool sequence_parallel = false;
    Edges edges = Edges::allreduce;
    bool recompute = false;
    std::uint64_t tensors_per_norm = 2;
    Logits logits = Logits::allgather;
    Element element = Element::bf16;
    Bytes memory_limit = 0;

    /// Rows of one activation.
    [[nodiscard]] std::uint64_t tokens() const {
        return phase == Phase::decode ? batch * (drafts + 1) : batch * sequence;
    }
    /// Rows of which logits are needed: every checked token, or the last of each sequence.
    [[nodiscard]] std::uint64_t logit_rows() const { return phase == Phase::decode ? tokens() : batch; }
    [[nodiscard]] bool scattered_edges() const { return sequence_parallel && edges == Edges::scatter; }
};

[[nodiscard]] std::span<ParameterInfo const> parameter_infos();

/// Throws UsageError naming the parameters and their values.
[[nodiscard]] Params read_params(Parameters const& parameters, WorldShape const& world);

}  // namespace dlmb::tp_allreduce
