// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/sequence_parallel/params.hpp"

#include "common/base/error.hpp"
#include "patterns/buffer_budget.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <limits>
#include <string_view>

namespace dlmb::sequence_parallel {
namespace {

// Together at most 2^56 values per tensor, so that bytes stay far below 2^64.
constexpr std::uint64_t max_tokens = std::uint64_t{1} << 32;
constexpr std::uint64_t max_heads = std::uint64_t{1} << 12;
constexpr std::uint64_t max_head_dim = std::uint64_t{1} << 12;
constexpr std::uint64_t max_layers = 65536;
constexpr std::uint64_t max_compute_ns = 60'000'000'000;
constexpr Bytes max_memory = std::numeric_limits<Bytes>::max();

constexpr ParameterInfo infos[] = {
    {"kind", "ulysses (exchanges turn sequence shares into head shares), ring (keys and values go round)", "ulysses"},
    {"batch", "sequences", "1"},
    {"sequence", "tokens of one sequence, over all ranks", "65536"},
    {"heads", "attention heads (queries)", "32"},
    {"kv-heads", "heads of keys and values; 0: as many as --heads", "0"},
    {"head-dim", "values of one head", "128"},
    {"layers", "attention layers in one iteration", "1"},
    {"sp", "ranks that share one sequence; 0: all ranks", "0"},
    {"direction", "forward, backward, both", "both"},
    {"element", "type of activations: bf16, fp16, fp32", "bf16"},
    {"gradient-element", "ring: type in which dk and dv are added up on their way: bf16, fp16, fp32", "fp32"},
    {"compute-ns", "ring: time of attention over one block, overlapped with the transfer of the next; 0: none", "0"},
    {"memory-limit", memory_limit_help, "1G"},
};

void read_tensors(Parameters const& parameters, Params& params) {
    params.queries = {
        read_unsigned(parameters, "batch", 1, max_tokens), read_unsigned(parameters, "sequence", 1, max_tokens),
        read_unsigned(parameters, "heads", 1, max_heads), read_unsigned(parameters, "head-dim", 1, max_head_dim)};
    Tensor const& queries = params.queries;
    if (queries.batch > max_tokens / queries.sequence) {
        throw UsageError(
            fmt::format("--batch {} and --sequence {}: above {} tokens", queries.batch, queries.sequence, max_tokens));
    }
    params.keys = queries;
    if (std::uint64_t const kv_heads = read_unsigned(parameters, "kv-heads", 0, queries.heads); kv_heads != 0) {
        params.keys.heads = kv_heads;
    }
    if (queries.heads % params.keys.heads != 0) {
        throw UsageError(fmt::format("--kv-heads {}: does not divide --heads {}", params.keys.heads, queries.heads));
    }
}

void check_layout(Params const& params) {
    std::uint64_t const ranks = params.ranks();
    if (params.queries.sequence % ranks != 0) {
        throw UsageError(fmt::format("--sequence {}: does not divide over {} sequence-parallel ranks",
                                     params.queries.sequence, ranks));
    }
    if (params.kind == Kind::ring) {
        return;
    }
    if (params.queries.heads % ranks != 0) {
        throw UsageError(fmt::format("--kind ulysses: --heads {} do not divide over {} sequence-parallel ranks; "
                                     "uneven heads are not supported",
                                     params.queries.heads, ranks));
    }
    if (params.keys.heads % ranks != 0) {
        throw UsageError(fmt::format("--kind ulysses: --kv-heads {} do not divide over {} sequence-parallel ranks; "
                                     "uneven heads are not supported",
                                     params.keys.heads, ranks));
    }
}

int read_sp(Parameters const& parameters, WorldShape const& world) {
    auto const ranks = static_cast<std::uint64_t>(world.ranks);
    std::uint64_t const sp = read_unsigned(parameters, "sp", 0, std::numeric_limits<int>::max());
    if (sp != 0 && ranks % sp != 0) {
        throw UsageError(fmt::format("--sp {}: does not divide {} ranks", sp, ranks));
    }
    return sp == 0 ? world.ranks : static_cast<int>(sp);
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.kind = read_enum<Kind>(parameters, "kind", {"ulysses", "ring"});
    read_tensors(parameters, params);
    params.layers = static_cast<std::uint32_t>(read_unsigned(parameters, "layers", 1, max_layers));
    params.sp = read_sp(parameters, world);
    params.direction = read_enum<Direction>(parameters, "direction", {"forward", "backward", "both"});
    params.element = read_element(parameters, "element", training_elements);
    params.gradient_element = read_element(parameters, "gradient-element", training_elements);
    params.compute_ns = static_cast<Nanoseconds>(read_unsigned(parameters, "compute-ns", 0, max_compute_ns));
    params.memory_limit = read_bytes(parameters, "memory-limit", 0, max_memory);
    check_layout(params);
    return params;
}

}  // namespace dlmb::sequence_parallel
