// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/buffer_budget.hpp"
#include "patterns/pipeline_p2p/params.hpp"

namespace dlmb::pipeline_p2p {
namespace {

constexpr ParameterInfo infos[] = {
    {"schedule", "gpipe, 1f1b, interleaved, chimera, zb_h1, zb_v, dualpipe", "1f1b"},
    {"pp", "pipeline ranks; 0: ranks / (tp * cp)", "0"},
    {"virtual-stages", "interleaved: chunks of layers per rank", "2"},
    {"microbatch-group", "interleaved: micro-batches that pass one chunk in a row; 0: pp", "0"},
    {"pipe-pairs", "chimera: pairs of opposite pipes; twice as many divide pp", "1"},
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
    {"backward-us", "compute: the same, whole backward pass", "200"},
    {"weight-us", "compute: the part of backward-us for the weights' gradients (zb_h1, zb_v, dualpipe); 0: half", "0"},
    {"memory-limit", memory_limit_help, "1G"},
};

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

}  // namespace dlmb::pipeline_p2p
