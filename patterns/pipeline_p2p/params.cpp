// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/params.hpp"

#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "patterns/pipeline_p2p/shape_params.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace dlmb::pipeline_p2p {
namespace {

constexpr std::uint64_t max_ranks = 65536;
constexpr Bytes max_tensor = Bytes{1} << 44;

void read_layout(Parameters const& parameters, WorldShape const& world, Params& params) {
    params.tp = read_int(parameters, "tp", 1, max_ranks);
    params.cp = read_int(parameters, "cp", 1, max_ranks);
    std::int64_t const inner = std::int64_t{params.tp} * params.cp;
    if (world.ranks % inner != 0) {
        throw UsageError(
            fmt::format("--tp {} --cp {}: {} ranks do not divide {} ranks", params.tp, params.cp, inner, world.ranks));
    }
    std::int64_t const chains = world.ranks / inner;
    std::int64_t const wanted = read_int(parameters, "pp", 0, max_ranks);
    std::int64_t const pp = wanted == 0 ? chains : wanted;
    if (chains % pp != 0) {
        throw UsageError(fmt::format("--pp {}: does not divide the {} ranks that --tp {} --cp {} leave of {}", pp,
                                     chains, params.tp, params.cp, world.ranks));
    }
    params.shape.ranks = static_cast<int>(pp);
    params.dp = static_cast<int>(chains / pp);
}

void read_tensor(Parameters const& parameters, Params& params) {
    params.element = read_element(parameters, "element", training_elements);
    TensorShape& tensor = params.tensor;
    tensor.micro_batch_size = read_unsigned(parameters, "micro-batch-size", 1, 1U << 20U);
    tensor.sequence = read_unsigned(parameters, "sequence", 1, 1U << 22U);
    tensor.hidden = read_unsigned(parameters, "hidden", 1, 1U << 24U);
    tensor.element_bytes = size_of(params.element);
    tensor.tp = static_cast<std::uint64_t>(params.tp);
    tensor.cp = static_cast<std::uint64_t>(params.cp);
    tensor.tp_split = read_enum<TpSplit>(parameters, "tp-split", {"none", "sequence_parallel", "scatter_gather"});
    std::uint64_t const parts = tensor.tp_split == TpSplit::sequence_parallel ? tensor.cp * tensor.tp : tensor.cp;
    if (tensor.sequence % parts != 0) {
        throw UsageError(fmt::format("--sequence {}: not a multiple of {} parts (--cp {}{})", tensor.sequence, parts,
                                     tensor.cp, parts == tensor.cp ? "" : fmt::format(" times --tp {}", tensor.tp)));
    }
    Bytes const row = tensor.sequence * tensor.hidden * tensor.element_bytes;  // at most 2^48
    if (row > max_tensor / tensor.micro_batch_size) {
        throw UsageError(fmt::format("--micro-batch-size {} --sequence {} --hidden {}: one tensor is above 2^44 B",
                                     tensor.micro_batch_size, tensor.sequence, tensor.hidden));
    }
    std::uint64_t const values = tensor_bytes(tensor) / tensor.element_bytes;
    if (params.gathers() && values % tensor.tp != 0) {
        throw UsageError(fmt::format("--tp {}: does not divide the {} values of a tensor (--tp-split scatter_gather)",
                                     params.tp, values));
    }
}

void read_small_messages(Parameters const& parameters, Params& params) {
    params.attention_mask = read_switch(parameters, "attention-mask");
    params.dynamic_shape = read_switch(parameters, "dynamic-shape");
    params.loss = read_switch(parameters, "loss");
    for (char const* name : {"attention-mask", "dynamic-shape"}) {
        if (read_switch(parameters, name) && params.mode != Mode::meta_data) {
            throw UsageError(fmt::format("--{} on: only --mode meta_data sends it", name));
        }
    }
    if (params.loss && pipes_of(params.shape) > 1) {
        throw UsageError(fmt::format("--loss on: --schedule {} ends on several ranks; choose one with one pipe",
                                     parameters.find("schedule")->second));
    }
    params.vocabulary = read_unsigned(parameters, "vocabulary", 0, 1U << 24U);
    if (params.vocabulary % params.tensor.tp != 0) {
        throw UsageError(fmt::format("--vocabulary {}: not a multiple of --tp {}", params.vocabulary, params.tp));
    }
    params.gradient_bytes = read_bytes(parameters, "gradient-bytes", 0, max_tensor);
    if (params.gradient_bytes % 4 != 0) {
        throw UsageError(
            fmt::format("--gradient-bytes {}: not a multiple of 4, the bytes of an fp32", params.gradient_bytes));
    }
    if (params.gradient_bytes > 0 && params.shape.schedule != Schedule::chimera) {
        throw UsageError(
            fmt::format("--gradient-bytes {}: only --schedule chimera sums gradients", params.gradient_bytes));
    }
}

Nanoseconds read_us(Parameters const& parameters, std::string_view name) {
    return std::llround(read_real(parameters, name, 0, 1e9) * nanoseconds_per_microsecond);
}

/// Times of a rank's part of a pipe, divided among its chunks.
void read_compute(Parameters const& parameters, Params& params) {
    std::size_t const choice = read_choice(parameters, "compute", {"none", "busy", "gemm"});
    Nanoseconds const forward = read_us(parameters, "forward-us");
    Nanoseconds const backward = read_us(parameters, "backward-us");
    Nanoseconds const weight = read_us(parameters, "weight-us");
    if (weight > backward) {
        throw UsageError(fmt::format("--weight-us {}: above --backward-us {}, of which it is a part",
                                     parameters.find("weight-us")->second, parameters.find("backward-us")->second));
    }
    bool const split = params.shape.schedule == Schedule::zb_h1 || params.shape.schedule == Schedule::zb_v ||
                       params.shape.schedule == Schedule::dualpipe;
    if (choice == 0) {
        params.durations.backward = split ? 2 : 1;
        return;
    }
    params.computes = true;
    if (choice == 2) {
        params.product = layer_product(params.tensor);
    }
    Nanoseconds const chunks = stages_per_pipe(params.shape) / params.shape.ranks;
    Durations& durations = params.durations;
    durations.forward = forward / chunks;
    durations.backward = backward / chunks;
    durations.backward_weight = (weight == 0 ? backward / 2 : weight) / chunks;
    durations.backward_input = durations.backward - durations.backward_weight;
}

}  // namespace

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    read_layout(parameters, world, params);
    read_shape(parameters, params.shape);
    params.mode = read_enum<Mode>(parameters, "mode", {"batched", "separate", "meta_data", "handshake_data"});
    params.shape.overlapped = params.mode == Mode::separate;
    if (params.mode == Mode::handshake_data) {
        check_handshakes(params.shape);
    }
    read_tensor(parameters, params);
    read_small_messages(parameters, params);
    read_compute(parameters, params);
    params.memory_limit = read_bytes(parameters, "memory-limit", 0, std::numeric_limits<std::int64_t>::max());
    return params;
}

}  // namespace dlmb::pipeline_p2p
