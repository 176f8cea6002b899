// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/kv_transfer/params.hpp"

#include "common/base/error.hpp"
#include "patterns/readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace dlmb::kv_transfer {
namespace {

constexpr std::uint64_t max_layers = 4096;
constexpr std::uint64_t max_heads = 4096;
constexpr std::uint64_t max_values = 4096;  // of a head, of a latent
constexpr std::uint64_t max_block_tokens = 65536;
constexpr std::uint64_t max_requests = 4096;
constexpr Bytes max_request_bytes = Bytes{1} << 56U;
constexpr std::uint64_t max_put_blocks = std::uint64_t{1} << 26U;  // of a rank: a plan has each of them
constexpr double max_arrivals_ns = 1e12;
constexpr std::array cache_elements{Element::bf16, Element::fp16, Element::fp8, Element::fp32};

constexpr ParameterInfo infos[] = {
    {"attention", "gqa (keys and values of KV heads; MHA: as many as heads), mla (one latent)", "gqa"},
    {"layers", "attention layers of the model", "32"},
    {"kv-heads", "gqa: heads of keys and values", "8"},
    {"head-dim", "gqa: values of one head", "128"},
    {"kv-lora", "mla: values of the latent", "512"},
    {"rope", "mla: rotary values beside it", "64"},
    {"latent-split",
     "mla: off: each tensor-parallel rank has all of the latent; on: its share, as NIXL's kvbench counts", "off"},
    {"element", "type of the cache: bf16, fp16, fp8, fp32", "bf16"},
    {"tokens", "tokens of a prompt: a number, quantiles:PERCENT=TOKENS:..., or file:PATH of recorded requests", "4096"},
    {"block-tokens", "tokens of a block (page) of the cache", "16"},
    {"reuse",
     "share of a prompt's blocks, at its begin, that the decode ranks have already: 0 to 1, or recorded: those of "
     "earlier requests of the file, by their hash_ids",
     "0"},
    {"requests", "requests of an iteration, of each prefill instance", "1"},
    {"arrivals",
     "when they arrive: together (at its begin), alone (each when all before it are done), poisson:RATE (RATE per "
     "second "
     "at each prefill instance), recorded[:SPEED] (by the timestamp of the file of --tokens, SPEED times as fast)",
     "together"},
    {"op-type",
     "send_recv (two-sided), write (one-sided: prefill ranks put blocks and a flag, as NIXL's and Mooncake's WRITE), "
     "read (one-sided: decode ranks get blocks behind a flag and tell that they have them, as NIXL's READ)",
     "send_recv"},
    {"granularity", "layer (each layer leaves on its own), block (all layers of a rank together)", "layer"},
    {"cache-layout", "paged (a message per block), contiguous (one for all blocks of a request)", "paged"},
    {"prefill-tp", "tensor-parallel ranks of a prefill instance; 0: half of the ranks", "0"},
    {"prefill-pp", "pipeline stages of a prefill instance", "1"},
    {"decode-tp", "tensor-parallel ranks of a decode instance; 0: the ranks that are left", "0"},
    {"decode-pp", "pipeline stages of a decode instance", "1"},
    {"prefill-per-decode", "prefill instances that send to one decode instance", "1"},
    {"layers-in-flight", "granularity layer: layers of a request whose messages are in flight at once; 0: all", "1"},
    {"compute-ns", "time in which a prefill instance computes one layer, after which the layer leaves; 0: none", "0"},
    memory_limit_parameter,
};

void read_cache(Parameters const& parameters, Params& params) {
    bool const latent = read_choice(parameters, "attention", {"gqa", "mla"}) == 1;
    params.layers = read_unsigned(parameters, "layers", 1, max_layers);
    auto const heads = read_unsigned(parameters, "kv-heads", 1, max_heads);
    auto const head_dim = read_unsigned(parameters, "head-dim", 1, max_values);
    auto const values =
        read_unsigned(parameters, "kv-lora", 1, max_values) + read_unsigned(parameters, "rope", 0, max_values);
    bool const divided = read_switch(parameters, "latent-split");
    if (divided && !latent) {
        throw UsageError("--latent-split on: --attention gqa has no latent; its heads are always divided");
    }
    Bytes const element = size_of(read_element(parameters, "element", cache_elements));
    std::uint64_t const units = !latent ? heads : divided ? values : 1;
    params.unit_bytes = (!latent ? 2 * head_dim : divided ? 1 : values) * element;
    params.split.prefill.units = units;
    params.split.decode.units = units;
}

void read_requests(Parameters const& parameters, Params& params) {
    params.lengths = PromptLengths::parse(text_of(parameters, "tokens"));
    params.block_tokens = read_unsigned(parameters, "block-tokens", 1, max_block_tokens);
    params.reuse_recorded = text_of(parameters, "reuse") == "recorded";
    if (params.reuse_recorded && !params.lengths.has_ids()) {
        throw UsageError("--reuse recorded: the requests of --tokens have no hash_ids; give --tokens file:PATH of a "
                         "trace that has them");
    }
    params.reuse = params.reuse_recorded ? 0 : read_real(parameters, "reuse", 0, 1);
    params.arrivals = Arrivals::parse(text_of(parameters, "arrivals"), params.lengths);
    params.requests = read_unsigned(parameters, "requests", 1, max_requests);
    Bytes const most = (params.lengths.most() + params.block_tokens) * params.requests;
    if (params.bytes_per_token() > max_request_bytes / std::max<Bytes>(most, 1)) {
        throw UsageError(fmt::format("--tokens: {} requests of {} tokens, {} B each, are above {} B", params.requests,
                                     params.lengths.most(), params.bytes_per_token(), max_request_bytes));
    }
}

/// 0 leaves a size to the world: half of it prefills, and one decode instance has the rest.
Instances read_instances(Parameters const& parameters, WorldShape const& world) {
    constexpr std::uint64_t most = std::uint64_t{1} << 20U;  // three of them multiplied are below 2^64
    auto const size = [&](std::string_view name, std::uint64_t least) {
        return read_unsigned(parameters, name, least, most);
    };
    auto const ranks = static_cast<std::uint64_t>(world.ranks);
    Instances instances{1,
                        size("prefill-per-decode", 1),
                        size("prefill-tp", 0),
                        size("prefill-pp", 1),
                        size("decode-tp", 0),
                        size("decode-pp", 1)};
    if (instances.prefill_tp == 0) {
        std::uint64_t const prefill =
            instances.decode_tp == 0 ? ranks / 2 : ranks - std::min(ranks, instances.decode_ranks());
        instances.prefill_tp = std::max<std::uint64_t>(prefill / (instances.prefill_pp * instances.per_decoding), 1);
    }
    std::uint64_t const prefill = instances.prefill_ranks() * instances.per_decoding;
    if (instances.decode_tp == 0) {
        instances.decode_tp = std::max<std::uint64_t>((ranks - std::min(prefill, ranks - 1)) / instances.decode_pp, 1);
    }
    std::uint64_t const together = prefill + instances.decode_ranks();
    bool const no_transfer = ranks == 1 && together == 2;
    if (ranks % together != 0 && !no_transfer) {
        std::string const several = instances.per_decoding == 1 ? "a" : fmt::format("{}", instances.per_decoding);
        throw UsageError(fmt::format("--prefill-tp {} --prefill-pp {} --decode-tp {} --decode-pp {}: {} prefill and a "
                                     "decode instance are {} ranks, which do not divide the {} ranks",
                                     instances.prefill_tp, instances.prefill_pp, instances.decode_tp,
                                     instances.decode_pp, several, together, ranks));
    }
    instances.decoding = std::max<std::uint64_t>(ranks / together, 1);
    return instances;
}

/// Refuses parameters that are too much together.
void check_together(Parameters const& parameters, Params const& params) {
    double const duration = params.arrivals.duration_ns(params.lengths, params.requests, params.instances.prefilling());
    if (duration > max_arrivals_ns) {
        throw UsageError(fmt::format("--arrivals {}: {} requests of {} prefill instances arrive over {:.0f} s, above "
                                     "{:.0f} s; give a larger number behind the colon, or fewer requests",
                                     text_of(parameters, "arrivals"), params.requests, params.instances.prefilling(),
                                     duration / 1e9, max_arrivals_ns / 1e9));
    }
    if (params.op_type != OpType::send_recv && params.placement == BlockPlacement::paged) {
        std::uint64_t const chunks = params.granularity == Granularity::layer ? params.layers : 1;
        std::uint64_t const blocks = params.lengths.most() / params.block_tokens + 1;
        if (blocks * chunks > max_put_blocks / params.requests) {
            throw UsageError(
                fmt::format("--op-type {}: {} requests of {} blocks in {} layers are above {} one-sided accesses; give "
                            "larger --block-tokens, or --cache-layout contiguous",
                            text_of(parameters, "op-type"), params.requests, blocks, chunks, max_put_blocks));
        }
    }
}

}  // namespace

InstancePlace Instances::place_of(Rank rank) const {
    auto const global = static_cast<std::uint64_t>(rank);
    std::uint64_t const prefill = prefilling() * prefill_ranks();
    if (global < prefill) {
        std::uint64_t const local = global % prefill_ranks();
        return {true, global / prefill_ranks(), local / prefill_tp, local % prefill_tp};
    }
    std::uint64_t const local = (global - prefill) % decode_ranks();
    return {false, (global - prefill) / decode_ranks(), local / decode_tp, local % decode_tp};
}

UnitRange Params::layers_of(std::uint64_t stage, std::uint64_t stages) const {
    std::uint64_t const first = stage * layers / stages;
    return {first, (stage + 1) * layers / stages - first};
}

Moved Params::moved_of(Prompt const& prompt) const {
    std::uint64_t const tokens = prompt.tokens;
    std::uint64_t const blocks = (tokens + block_tokens - 1) / block_tokens;
    std::uint64_t const known = prompt.cached_tokens == tokens ? blocks : prompt.cached_tokens / block_tokens;
    std::uint64_t const reused = reuse_recorded ? known : share_of(reuse, blocks);
    std::uint64_t const end = placement == BlockPlacement::paged ? blocks * block_tokens : tokens;
    return {blocks - reused, end - std::min(end, reused * block_tokens)};
}

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    read_cache(parameters, params);
    read_requests(parameters, params);
    params.granularity = read_enum<Granularity>(parameters, "granularity", {"layer", "block"});
    params.placement = read_enum<BlockPlacement>(parameters, "cache-layout", {"paged", "contiguous"});
    params.instances = read_instances(parameters, world);
    params.one_rank = world.ranks == 1;
    for (auto const& [option, stages] : {std::pair("--prefill-pp", params.instances.prefill_pp),
                                         std::pair("--decode-pp", params.instances.decode_pp)}) {
        if (stages > params.layers) {
            throw UsageError(fmt::format("{} {}: more stages than the {} layers", option, stages, params.layers));
        }
    }
    params.split.prefill.ranks = params.instances.prefill_tp;
    params.split.decode.ranks = params.instances.decode_tp;
    params.layers_in_flight = read_unsigned(parameters, "layers-in-flight", 0, max_layers);
    params.compute_ns = read_nanoseconds(parameters, "compute-ns");
    params.memory_limit = read_memory_limit(parameters);
    params.op_type = read_enum<OpType>(parameters, "op-type", {"send_recv", "write", "read"});
    check_together(parameters, params);
    return params;
}

}  // namespace dlmb::kv_transfer
