// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/tp_allreduce/params.hpp"

#include "common/base/error.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <limits>
#include <string_view>

namespace dlmb::tp_allreduce {
namespace {

// Together below 2^62 bytes of logits or activations.
constexpr std::uint64_t max_tokens = std::uint64_t{1} << 32;
constexpr std::uint64_t max_width = std::uint64_t{1} << 24;
constexpr std::uint64_t max_layers = 65536;
constexpr std::uint64_t max_steps = 65536;
constexpr Bytes max_memory = std::numeric_limits<Bytes>::max();

constexpr ParameterInfo infos[] = {
    {"phase", "training (forward and backward of one micro-batch), prefill, decode", "training"},
    {"batch", "sequences of one micro-batch or inference batch", "1"},
    {"sequence", "tokens of one sequence (training, prefill)", "2048"},
    {"hidden", "values in one token's activation", "4096"},
    {"layers", "layers of the model", "32"},
    {"vocabulary", "entries of the vocabulary (logits of prefill and decode)", "32000"},
    {"tp", "tensor-parallel ranks; 0: all ranks of a stage", "0"},
    {"pp", "pipeline stages that the layers are dealt over; each rank runs its own stage's share", "1"},
    {"sequence-parallel", "on: allgather and reduce_scatter instead of allreduce", "off"},
    {"edges", "embedding and logits with sequence-parallel on: allreduce (as AICB), scatter (as Megatron-LM)",
     "allreduce"},
    {"recompute", "training: none, full (the forward collectives of a layer run again before its backward)", "none"},
    {"norm", "gradients reduced with sequence-parallel on: layernorm (weight and bias), rmsnorm (weight)", "layernorm"},
    {"element", "type of activations: bf16, fp16, fp32", "bf16"},
    {"logits", "prefill, decode: allgather, argmax (allreduce of the best per row), none", "allgather"},
    {"drafts", "decode: drafted tokens that one step checks; K multiply the batch by K + 1", "0"},
    {"steps", "decode: tokens generated in one iteration", "1"},
    {"memory-limit", memory_limit_help, "1G"},
};

void read_sizes(Parameters const& parameters, Params& params) {
    params.phase = read_enum<Phase>(parameters, "phase", {"training", "prefill", "decode"});
    params.batch = read_unsigned(parameters, "batch", 1, max_width);
    params.sequence = read_unsigned(parameters, "sequence", 1, max_width);
    params.drafts = read_unsigned(parameters, "drafts", 0, 255);
    params.steps = static_cast<std::uint32_t>(read_unsigned(parameters, "steps", 1, max_steps));
    params.hidden = read_unsigned(parameters, "hidden", 1, max_width);
    params.vocabulary = read_unsigned(parameters, "vocabulary", 1, max_width);
    params.layers = static_cast<std::uint32_t>(read_unsigned(parameters, "layers", 1, max_layers));
    if (params.tokens() > max_tokens) {
        throw UsageError(fmt::format("--batch {} and --sequence {} make {} tokens; at most {} are possible",
                                     params.batch, params.sequence, params.tokens(), max_tokens));
    }
}

/// Stages first, so that --tp 0 means all ranks of one.
void read_layout(Parameters const& parameters, WorldShape const& world, Params& params) {
    auto const ranks = static_cast<std::uint64_t>(world.ranks);
    std::uint64_t const pp = read_unsigned(parameters, "pp", 1, max_layers);
    if (ranks % pp != 0) {
        throw UsageError(fmt::format("--pp {}: does not divide {} ranks", pp, ranks));
    }
    if (params.layers % pp != 0) {
        throw UsageError(fmt::format("--pp {}: does not divide --layers {}", pp, params.layers));
    }
    std::uint64_t const stage = ranks / pp;
    std::uint64_t const asked = read_unsigned(parameters, "tp", 0, std::numeric_limits<int>::max());
    std::uint64_t const tp = asked == 0 ? stage : asked;
    if (stage % tp != 0) {
        throw UsageError(pp == 1 ? fmt::format("--tp {}: does not divide {} ranks", tp, ranks)
                                 : fmt::format("--tp {}: does not divide the {} ranks of a stage ({} ranks, --pp {})",
                                               tp, stage, ranks, pp));
    }
    params.pp = static_cast<int>(pp);
    params.tp = static_cast<int>(tp);
}

/// A reduce-scatter gives every rank whole tokens.
void check_scatter(Params const& params) {
    if (!params.sequence_parallel) {
        return;
    }
    auto const tp = static_cast<std::uint64_t>(params.tp);
    if (params.phase == Phase::training && params.sequence % tp != 0) {
        throw UsageError(
            fmt::format("--sequence-parallel on: --sequence {} does not divide over {} tensor-parallel ranks",
                        params.sequence, tp));
    }
    if (params.tokens() % tp != 0) {
        throw UsageError(fmt::format("--sequence-parallel on: {} tokens do not divide over {} tensor-parallel ranks",
                                     params.tokens(), tp));
    }
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    read_sizes(parameters, params);
    read_layout(parameters, world, params);
    params.sequence_parallel = read_switch(parameters, "sequence-parallel");
    params.edges = read_enum<Edges>(parameters, "edges", {"allreduce", "scatter"});
    params.recompute = read_choice(parameters, "recompute", {"none", "full"}) == 1;
    params.tensors_per_norm = read_choice(parameters, "norm", {"layernorm", "rmsnorm"}) == 1 ? 1 : 2;
    params.element = read_element(parameters, "element", training_elements);
    params.logits = read_enum<Logits>(parameters, "logits", {"none", "allgather", "argmax"});
    params.memory_limit = read_bytes(parameters, "memory-limit", 0, max_memory);
    check_scatter(params);
    return params;
}

}  // namespace dlmb::tp_allreduce
