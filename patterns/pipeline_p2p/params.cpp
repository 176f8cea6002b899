// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/pipeline_p2p/params.hpp"

#include "common/base/error.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

namespace dlmb::pipeline_p2p {
namespace {

constexpr int max_ranks = 65536;
constexpr int max_microbatches = 65536;
constexpr int max_pairs = 65536;
constexpr Bytes max_tensor = Bytes{1} << 44;

constexpr ParameterInfo infos[] = {
    {"schedule", "gpipe, 1f1b, interleaved, chimera, zb_h1, zb_v, dualpipe", "1f1b"},
    {"pp", "pipeline ranks; 0: ranks / (tp * cp)", "0"},
    {"virtual-stages", "interleaved: chunks of layers per rank", "2"},
    {"microbatch-group", "interleaved: micro-batches that pass one chunk in a row; 0: pp", "0"},
    {"pipe-pairs", "chimera: pairs of opposite pipes; pp is a multiple of twice this", "1"},
    {"microbatches", "micro-batches per iteration (of both directions together)", "8"},
    {"micro-batch-size", "sequences per micro-batch", "1"},
    {"sequence", "tokens per sequence", "2048"},
    {"hidden", "values per token", "2048"},
    {"element", "bf16, fp16, fp32", "bf16"},
    {"tp", "tensor-parallel ranks, which are neighbours", "1"},
    {"tp-split", "tensors between stages: none (whole), sequence_parallel (1/tp), scatter_gather (1/tp, then gathered)",
     "none"},
    {"cp", "context-parallel ranks, which divide the sequence", "1"},
    {"mode", "how messages are issued: batched, separate, meta_data, handshake_data (README of the pattern)",
     "batched"},
    {"attention-mask", "on: the fp16 mask of sequence^2 values follows each activation (meta_data)", "off"},
    {"dynamic-shape", "on: 1024 B that describe the tensors precede each activation (meta_data)", "off"},
    {"loss", "on: the loss is reduced and broadcast at the end (DeepSpeed)", "off"},
    {"vocabulary", "rows of an embedding that first and last stage share; 0: not shared", "0"},
    {"gradient-bytes", "chimera: gradients of one stage (fp32), summed over its replicas; 0: not summed", "0"},
    {"compute", "none, busy (watch the clock), gemm (multiply matrices of the layer)", "none"},
    {"forward-us", "compute: one micro-batch through one rank's part of a pipe", "100"},
    {"backward-us", "compute: the same of the whole backward pass", "200"},
    {"weight-us", "compute: the part of backward-us for the weights' gradients (zb_h1, zb_v, dualpipe); 0: half", "0"},
    {"bubble-fill",
     "compute: extra operations in idle time, [forward.|backward.]OPERATION[:BYTES]@US[xCOUNT]/...; none", "none"},
    {"bubble-reserve", "bubble-fill: idle time that an operation needs beyond its own, in percent of its own", "5"},
    memory_limit_parameter,
};

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

void read_interleaving(Parameters const& parameters, ScheduleShape& shape) {
    shape.virtual_stages = read_int(parameters, "virtual-stages", 1, 1024);
    int const group = read_int(parameters, "microbatch-group", 0, max_microbatches);
    shape.microbatch_group = group == 0 ? shape.ranks : group;
    if (shape.microbatch_group < shape.ranks) {
        throw UsageError(fmt::format("--microbatch-group {}: below the {} pipeline ranks", group, shape.ranks));
    }
    int const rest = shape.microbatches % shape.microbatch_group;
    if (shape.microbatches < shape.ranks || (rest != 0 && rest < shape.ranks)) {
        throw UsageError(fmt::format(
            "--microbatches {}: groups of {} leave {}, fewer than the {} pipeline ranks of --schedule interleaved",
            shape.microbatches, shape.microbatch_group, rest, shape.ranks));
    }
}

void check_bidirectional(ScheduleShape const& shape) {
    if (shape.schedule == PipelineSchedule::chimera && shape.ranks % (2 * shape.pipe_pairs) != 0) {
        throw UsageError(
            fmt::format("--pipe-pairs {}: {} pipes do not divide the {} pipeline ranks of --schedule chimera",
                        shape.pipe_pairs, 2 * shape.pipe_pairs, shape.ranks));
    }
    if (shape.schedule == PipelineSchedule::dualpipe) {
        if (shape.ranks % 2 != 0) {
            throw UsageError(
                fmt::format("--pp {}: --schedule dualpipe needs an even number of pipeline ranks", shape.ranks));
        }
        if (shape.microbatches % 2 != 0 || shape.microbatches < 2 * shape.ranks) {
            throw UsageError(
                fmt::format("--microbatches {}: --schedule dualpipe needs an even number, at least {} (twice --pp {})",
                            shape.microbatches, 2 * shape.ranks, shape.ranks));
        }
    }
}

/// Fills all but `ranks`, which must be known, and `overlapped`.
void read_shape(Parameters const& parameters, ScheduleShape& shape) {
    shape.schedule = read_enum<PipelineSchedule>(
        parameters, "schedule", {"gpipe", "1f1b", "interleaved", "chimera", "zb_h1", "zb_v", "dualpipe"});
    shape.microbatches = read_int(parameters, "microbatches", 1, max_microbatches);
    shape.pipe_pairs = read_int(parameters, "pipe-pairs", 1, max_pairs);
    if (shape.schedule == PipelineSchedule::interleaved) {
        read_interleaving(parameters, shape);
    }
    check_bidirectional(shape);
}

/// Refuses schedules that handshake_data cannot run. Ranks with only warm-up passes take their first gradient later
/// than those with others expect, and while shapes and tensors are exchanged apart, neither gets on.
void check_handshakes(ScheduleShape const& shape) {
    std::int64_t const entries = std::int64_t{shape.microbatches} * shape.virtual_stages;
    std::int64_t const longest_warm_up =
        2 * (std::int64_t{shape.ranks} - 1) + (std::int64_t{shape.virtual_stages} - 1) * shape.microbatch_group;
    if (shape.schedule == PipelineSchedule::interleaved && shape.ranks > 1 && entries <= longest_warm_up) {
        throw UsageError(fmt::format("--microbatches {}: too few for --mode handshake_data with --schedule "
                                     "interleaved, which would hang; {} or more do not",
                                     shape.microbatches, longest_warm_up / shape.virtual_stages + 1));
    }
}

void read_tensor(Parameters const& parameters, Params& params) {
    params.element = read_element(parameters, "element", training_elements);
    params.micro_batch_size = read_unsigned(parameters, "micro-batch-size", 1, 1U << 20U);
    params.sequence = read_unsigned(parameters, "sequence", 1, 1U << 22U);
    params.hidden = read_unsigned(parameters, "hidden", 1, 1U << 24U);
    params.tp_split = read_enum<TpSplit>(parameters, "tp-split", {"none", "sequence_parallel", "scatter_gather"});
    if (std::uint64_t const parts = params.sequence_parts(); params.sequence % parts != 0) {
        bool const by_tp = params.tp > 1 && params.tp_split == TpSplit::sequence_parallel;
        throw UsageError(fmt::format("--sequence {}: not a multiple of {} parts (--cp {}{})", params.sequence, parts,
                                     params.cp, by_tp ? fmt::format(" times --tp {}", params.tp) : ""));
    }
    Bytes const row = params.sequence * params.hidden * size_of(params.element);  // at most 2^48
    if (row > max_tensor / params.micro_batch_size) {
        throw UsageError(fmt::format("--micro-batch-size {} --sequence {} --hidden {}: one tensor is above 2^44 B",
                                     params.micro_batch_size, params.sequence, params.hidden));
    }
    std::uint64_t const values = params.tensor_bytes() / size_of(params.element);
    if (params.gathers() && values % static_cast<std::uint64_t>(params.tp) != 0) {
        throw UsageError(fmt::format("--tp {}: does not divide the {} values of a tensor (--tp-split scatter_gather)",
                                     params.tp, values));
    }
}

void read_small_messages(Parameters const& parameters, Params& params) {
    params.attention_mask = read_switch(parameters, "attention-mask");
    params.dynamic_shape = read_switch(parameters, "dynamic-shape");
    params.loss = read_switch(parameters, "loss");
    for (char const* name : {"attention-mask", "dynamic-shape"}) {
        if (read_switch(parameters, name) && params.mode != MessageMode::meta_data) {
            throw UsageError(fmt::format("--{} on: only --mode meta_data sends it", name));
        }
    }
    if (params.loss && pipes_of(params.shape) > 1) {
        throw UsageError(fmt::format("--loss on: --schedule {} ends on several ranks; choose one with one pipe",
                                     text_of(parameters, "schedule")));
    }
    params.vocabulary = read_unsigned(parameters, "vocabulary", 0, 1U << 24U);
    if (params.vocabulary % static_cast<std::uint64_t>(params.tp) != 0) {
        throw UsageError(fmt::format("--vocabulary {}: not a multiple of --tp {}", params.vocabulary, params.tp));
    }
    params.gradient_bytes = read_bytes(parameters, "gradient-bytes", 0, max_tensor);
    if (params.gradient_bytes % 4 != 0) {
        throw UsageError(
            fmt::format("--gradient-bytes {}: not a multiple of 4, the bytes of an fp32", params.gradient_bytes));
    }
    if (params.gradient_bytes > 0 && params.shape.schedule != PipelineSchedule::chimera) {
        throw UsageError(
            fmt::format("--gradient-bytes {}: only --schedule chimera sums gradients", params.gradient_bytes));
    }
}

/// Times of a rank's part of a pipe, divided among its chunks.
void read_compute(Parameters const& parameters, Params& params) {
    std::size_t const choice = read_choice(parameters, "compute", {"none", "busy", "gemm"});
    Nanoseconds const forward = read_microseconds(parameters, "forward-us");
    Nanoseconds const backward = read_microseconds(parameters, "backward-us");
    Nanoseconds const weight = read_microseconds(parameters, "weight-us");
    if (weight > backward) {
        throw UsageError(fmt::format("--weight-us {}: above --backward-us {}, of which it is a part",
                                     text_of(parameters, "weight-us"), text_of(parameters, "backward-us")));
    }
    bool const split = params.shape.schedule == PipelineSchedule::zb_h1 ||
                       params.shape.schedule == PipelineSchedule::zb_v ||
                       params.shape.schedule == PipelineSchedule::dualpipe;
    if (choice == 0) {
        params.durations.backward = split ? 2 : 1;
        return;
    }
    params.computes = true;
    if (choice == 2) {
        // The output projection of a layer's attention on one rank: the b * s / cp tokens of a micro-batch times that
        // rank's h / tp rows of the h x h weights (Megatron-LM RowParallelLinear). Its backward products have as many
        // multiplications.
        auto const tp = static_cast<std::uint64_t>(params.tp);
        params.product =
            ProductShape{.rows = params.micro_batch_size * (params.sequence / static_cast<std::uint64_t>(params.cp)),
                         .columns = params.hidden,
                         .inner = (params.hidden + tp - 1) / tp};
    }
    Nanoseconds const chunks = stages_per_pipe(params.shape) / params.shape.ranks;
    Durations& durations = params.durations;
    durations.forward = forward / chunks;
    durations.backward = backward / chunks;
    durations.backward_weight = (weight == 0 ? backward / 2 : weight) / chunks;
    durations.backward_input = durations.backward - durations.backward_weight;
}

void read_fill(Parameters const& parameters, Params& params) {
    std::string const& text = text_of(parameters, "bubble-fill");
    params.fill_reserve = read_real(parameters, "bubble-reserve", 0, 1000) / 100;
    if (text == "none") {
        return;
    }
    params.fill = parse_fill(text);
    if (!params.computes) {
        throw UsageError("--bubble-fill: needs --compute busy or gemm, whose times say where the bubbles are");
    }
    int const copies = params.cp * params.dp;
    for (FillItem const& item : params.fill) {
        if (item.operation == OperationKind::compute) {
            continue;
        }
        if (copies < 2) {
            throw UsageError(fmt::format("--bubble-fill: {} goes over the copies of a stage, and there is one; choose "
                                         "--pp below the number of ranks, or compute only",
                                         name_of(item.operation)));
        }
        if (item.bytes / 4 % static_cast<Bytes>(copies) != 0) {
            throw UsageError(fmt::format("--bubble-fill: {} copies of a stage do not divide the {} values of {}",
                                         copies, item.bytes / 4, name_of(item.operation)));
        }
    }
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    read_layout(parameters, world, params);
    read_shape(parameters, params.shape);
    params.mode = read_enum<MessageMode>(parameters, "mode", {"batched", "separate", "meta_data", "handshake_data"});
    params.shape.overlapped = params.mode == MessageMode::separate;
    if (params.mode == MessageMode::handshake_data) {
        check_handshakes(params.shape);
    }
    read_tensor(parameters, params);
    read_small_messages(parameters, params);
    read_compute(parameters, params);
    read_fill(parameters, params);
    params.memory_limit = read_memory_limit(parameters);
    return params;
}

}  // namespace dlmb::pipeline_p2p
