// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/params.hpp"

#include "common/base/error.hpp"
#include "common/base/philox.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <utility>

namespace dlmb::moe_alltoall {
namespace {

constexpr std::uint64_t max_experts = 65536;
constexpr std::uint64_t max_tokens = std::uint64_t{1} << 31;  // a token is one 32-bit counter word
constexpr std::uint64_t max_hidden = std::uint64_t{1} << 24;
static_assert(max_experts <= max_words_per_token);
constexpr std::array row_elements{Element::bf16, Element::fp16, Element::fp8, Element::fp32};

constexpr ParameterInfo infos[] = {
    {"hidden", "values in one token's row", "2048"},
    {"experts", "routed experts per layer", "64"},
    {"top-k", "experts per token", "6"},
    {"tokens", "tokens per rank that enter a layer", "4096"},
    {"layers", "MoE layers in one iteration", "1"},
    {"ep", "ranks that share one set of experts; 0: the largest divisor of the ranks not above the experts", "0"},
    {"element", "row format: bf16, fp16, fp8 (with fp32 scales per 128 values; combine in bf16), fp32", "bf16"},
    {"wire", "rows sent: expanded, rank_dedup, node_dedup, padded, low_latency (README of the pattern)", "expanded"},
    {"capacity-factor", "padded: room of an expert for rows of a rank, over their even share; 0: --min-capacity rows",
     "1.0"},
    {"min-capacity", "padded: least room of an expert for rows of a rank", "4"},
    {"skew",
     "how uneven experts are: balanced, lognormal:GINI, zipf:S, hot_rank:R, power_law:ALPHA, intra_host:R, file:PATH; "
     "moving with the draws: +rotating:PERIOD, +burst:RATE:LENGTH, +zero_expert:R, +drift:HALF_LIFE",
     "lognormal:0.24"},
    {"direction", "forward, backward, both", "forward"},
    {"expert-groups", "group-limited routing: contiguous groups of experts; 0 or 1: none", "0"},
    {"group-limit", "groups that one token may use; 0: no limit", "0"},
    {"group-score", "a group is chosen by its best expert (best) or its two best (best_two)", "best"},
    {"placement", "which rank has which expert: block, cyclic, coarse, fine, lpt, eplb, file:PATH", "block"},
    {"redundant-experts", "eplb: replicas of hot experts beside the experts, over all ranks of a group", "0"},
    {"rebalance", "where experts lie before the iteration, as --placement: they move first; none: they do not", "none"},
    {"expert-ffn", "rebalance: inner width of an expert (it has three matrices of hidden x this); 0: unknown", "0"},
    {"probs", "on: an exchange of the routing probabilities of each row follows each dispatch", "off"},
    {"quantize", "format of dispatched rows: none, mxfp8, fp8:128:fp32, int4:32:fp32 ... (README of the pattern)",
     "none"},
    {"quantize-combine", "format of combined rows, as --quantize", "none"},
    pack_parameter,
};

std::size_t read_ep(Parameters const& parameters, std::size_t ranks, std::size_t experts) {
    std::size_t const ep = read_unsigned(parameters, "ep", 0, max_experts);
    if (ep == 0) {
        return automatic_ep(ranks, experts);
    }
    if (ep > experts) {
        throw UsageError(
            fmt::format("--ep {}: above --experts {}; a rank without an expert would receive nothing", ep, experts));
    }
    if (ranks % ep != 0) {
        throw UsageError(fmt::format("--ep {}: does not divide {} ranks", ep, ranks));
    }
    return ep;
}

/// To the nearest. Without libm: what decides a count is the same everywhere.
std::uint64_t in_millionths(double value) {
    double const scaled = value * 1e6;
    auto const whole = static_cast<std::uint64_t>(scaled);
    return scaled - static_cast<double>(whole) < 0.5 ? whole : whole + 1;
}

/// Ranks of one group per node. Nodes must hold whole groups, or groups whole nodes, for rail-aligned relays.
std::size_t read_node_ranks(WorldShape const& world, std::size_t ep) {
    auto const ranks = static_cast<std::size_t>(world.ranks);
    auto const per_node = static_cast<std::size_t>(std::max(world.ranks_per_node, 0));
    if (per_node == 0) {
        throw UsageError(
            fmt::format("--wire node_dedup: the {} ranks have no regular number of ranks per node", ranks));
    }
    if (ep <= per_node && (per_node % ep == 0 || ranks <= per_node)) {
        return ep;
    }
    if (ep % per_node == 0) {
        return per_node;
    }
    throw UsageError(fmt::format(
        "--wire node_dedup: groups of --ep {} ranks do not fit nodes of {} ranks; one must divide the other", ep,
        per_node));
}

void read_groups(Parameters const& parameters, Params& params) {
    params.expert_groups = std::max<std::size_t>(read_unsigned(parameters, "expert-groups", 0, params.experts), 1);
    params.group_limit = read_unsigned(parameters, "group-limit", 0, params.expert_groups);
    if (params.group_limit == 0) {
        params.group_limit = params.expert_groups;
    }
    if (params.experts % params.expert_groups != 0) {
        throw UsageError(
            fmt::format("--expert-groups {}: does not divide --experts {}", params.expert_groups, params.experts));
    }
    std::size_t const reachable = params.experts / params.expert_groups * params.group_limit;
    if (params.top_k > reachable) {
        throw UsageError(
            fmt::format("--top-k {}: above the {} experts that --group-limit {} of --expert-groups {} leaves",
                        params.top_k, reachable, params.group_limit, params.expert_groups));
    }
}

/// Nodes of equal size that a group is on; 1 where they are not equal.
std::size_t nodes_of_group(WorldShape const& world, std::size_t ep) {
    auto const per_node = static_cast<std::size_t>(std::max(world.ranks_per_node, 0));
    return per_node > 0 && ep % per_node == 0 ? ep / per_node : 1;
}

ExpertRanks read_expert_file(std::string_view option, std::string const& path, Params const& params) {
    PlacementFile const file{option, path, "expert", params.experts, params.ep};
    std::istringstream text(read_option_file(option, path));
    ExpertRanks ranks_of;
    for (PlacementLine& line : file.read(text)) {
        if (line.ranks.size() > 1 && params.wire == Wire::padded) {
            file.refuse(line.number, "several ranks have the expert; --wire padded knows no replicas");
        }
        ranks_of.push_back(std::move(line.ranks));
    }
    return ranks_of;
}

void read_placement(Parameters const& parameters, WorldShape const& world, Params& params) {
    using Kind = PlacementRule::Kind;
    params.placement = read_placement_rule(parameters, "placement", {.eplb = true});
    params.placement_before = read_placement_rule(parameters, "rebalance", {.eplb = true, .none = true});
    params.redundant_experts = read_unsigned(parameters, "redundant-experts", 0, max_experts);
    bool const replicated = params.placement.kind == Kind::eplb || params.placement_before.kind == Kind::eplb;
    if (params.redundant_experts > 0 && !replicated) {
        throw UsageError(
            fmt::format("--redundant-experts {}: only --placement eplb has replicas", params.redundant_experts));
    }
    if (params.redundant_experts > 0 && params.wire == Wire::padded) {
        throw UsageError(
            fmt::format("--redundant-experts {}: --wire padded knows no replicas", params.redundant_experts));
    }
    std::size_t const replicas = params.experts + params.redundant_experts;
    if (replicated && replicas % params.ep != 0) {
        throw UsageError(fmt::format("--redundant-experts {}: with --experts {} that is {}, which does not divide over "
                                     "--ep {}",
                                     params.redundant_experts, params.experts, replicas, params.ep));
    }
    params.eplb_nodes = nodes_of_group(world, params.ep);
    if (params.placement.kind == Kind::file && params.placement_before.kind == Kind::file) {
        throw UsageError("--rebalance file: --placement is a file, too; one of them can be");
    }
    for (auto const& [option, rule] :
         {std::pair("--placement", &params.placement), std::pair("--rebalance", &params.placement_before)}) {
        if (rule->kind == Kind::file) {
            params.placement_file = read_expert_file(option, rule->path, params);
        }
    }
    std::uint64_t const ffn = read_unsigned(parameters, "expert-ffn", 0, max_hidden);
    params.expert_bytes = 3 * ffn * dispatch_row_bytes(params.element, params.hidden);
    if (params.placement_before.kind != Kind::none && ffn == 0) {
        throw UsageError("--rebalance: needs --expert-ffn, which says how large an expert is");
    }
}

}  // namespace

std::span<ParameterInfo const> parameter_infos() {
    return infos;
}

std::size_t automatic_ep(std::size_t ranks, std::size_t experts) {
    std::size_t ep = std::min(ranks, experts);
    while (ranks % ep != 0) {
        --ep;
    }
    return ep;
}

Bytes dispatch_row_bytes(Element element, std::uint64_t hidden) {
    constexpr std::uint64_t block = 128;
    Bytes const scales = element == Element::fp8 ? (hidden + block - 1) / block : 0;
    return size_of(element) * hidden + size_of(Element::fp32) * scales;
}

Bytes combine_row_bytes(Element element, std::uint64_t hidden) {
    return dispatch_row_bytes(element == Element::fp8 ? Element::bf16 : element, hidden);
}

Bytes probability_bytes(Params const& params, bool to_experts) {
    constexpr Bytes weight_bytes = 4;
    Bytes const expert_number_bytes = params.relayed() ? 4 : 8;
    if (params.wire != Wire::rank_dedup && params.wire != Wire::node_dedup) {
        return weight_bytes;
    }
    return params.top_k * (weight_bytes + (to_experts ? expert_number_bytes : 0));
}

std::uint64_t capacity(std::uint64_t tokens, std::uint64_t experts, std::uint64_t top_k, CapacityRule rule) {
    __extension__ using Wide = unsigned __int128;  // 2^32 tokens times 2^16 picks times a factor in millionths
    Wide const numerator = Wide{tokens} * top_k * rule.factor;
    Wide const denominator = Wide{experts} * 1'000'000;
    return std::max(static_cast<std::uint64_t>((numerator + denominator - 1) / denominator), rule.min);
}

std::vector<std::size_t> owners_of_experts(Params const& params) {
    std::vector<PlacedUnit> const experts(params.experts);
    return place({.kind = PlacementRule::Kind::block}, experts, params.ep);
}

namespace {

void read_packings(Parameters const& parameters, Params& params) {
    params.dispatch_packing = read_packing(parameters, "quantize");
    params.combine_packing = read_packing(parameters, "quantize-combine");
    for (auto const& [name, packing] :
         {std::pair("quantize", params.dispatch_packing), std::pair("quantize-combine", params.combine_packing)}) {
        if (packing && params.element == Element::fp8) {
            throw UsageError(fmt::format("--{0} {1}: rows of --element fp8 are sent as they are; --element bf16 with "
                                         "--quantize fp8:128:fp32 packs rows of the same size",
                                         name, to_string(*packing)));
        }
        if (packing && params.relayed()) {
            throw UsageError(fmt::format("--{} {}: --wire node_dedup over {} nodes hands rows on, which this pattern "
                                         "does not do with packed ones; use --wire rank_dedup",
                                         name, to_string(*packing), params.nodes()));
        }
    }
}

void read_row_order(Parameters const& parameters, Params& params) {
    params.pack = read_pack(parameters);
    if (params.pack == Pack::none) {
        return;
    }
    if (params.wire != Wire::expanded) {
        throw UsageError(fmt::format(
            "--pack {}: --wire {} adds rows up or fills empty places, which is no copy of rows; use --wire expanded",
            name_of(params.pack), text_of(parameters, "wire")));
    }
    if (params.pack == Pack::fused && (params.dispatch_packing || params.combine_packing)) {
        throw UsageError("--pack fused: the exchange moves rows and does not convert them; with --quantize use "
                         "--pack host or cuda, which do both in one step");
    }
    for (auto const& [bytes, packing] :
         {std::pair(dispatch_row_bytes(params.element, params.hidden), params.dispatch_packing),
          std::pair(combine_row_bytes(params.element, params.hidden), params.combine_packing)}) {
        if (!packing) {
            require_movable_rows(params.pack, bytes,
                                 fmt::format("--hidden {} of {}", params.hidden, text_of(parameters, "element")));
        }
    }
}

/// The kernels are for inference, cast rows themselves and weigh them where tokens come from.
void check_low_latency(Parameters const& parameters, Params const& params) {
    if (params.wire != Wire::low_latency) {
        return;
    }
    auto const refuse = [](std::string_view option, std::string_view value, std::string_view why) {
        throw UsageError(fmt::format("--wire low_latency: --{} {}: {}", option, value, why));
    };
    if (params.element != Element::bf16 && params.element != Element::fp8) {
        refuse("element", text_of(parameters, "element"), "its rows are bf16, or fp8 with scales");
    }
    if (params.direction != Passes::forward) {
        refuse("direction", text_of(parameters, "direction"), "it is for inference, which goes forward only");
    }
    if (params.probs) {
        refuse("probs", "on", "weights stay where the tokens come from");
    }
    if (params.dispatch_packing || params.combine_packing) {
        refuse("quantize", text_of(parameters, "quantize"), "--element fp8 has the bytes of quantized rows");
    }
}

void read_routing_skew(Parameters const& parameters, WorldShape const& world, Params& params) {
    std::string const& text = text_of(parameters, "skew");
    RoutingSkew skew = parse_routing_skew(text);
    require_nodes_of_skew(skew.still, text, world);
    params.skew = std::move(skew.still);
    params.moving = skew.moving;
}

/// Checks zero_expert: every token must find top_k other experts, whichever groups it chooses.
void check_zero_rank(Parameters const& parameters, Params const& params) {
    if (!params.moving.zero_rank) {
        return;
    }
    std::size_t const rank = *params.moving.zero_rank;
    if (rank >= params.ep) {
        throw UsageError(fmt::format("--skew '{}': a group has --ep {} ranks, numbered from 0",
                                     text_of(parameters, "skew"), params.ep));
    }
    std::vector<std::size_t> left(params.expert_groups, params.experts / params.expert_groups);
    std::vector<std::size_t> const owners = owners_of_experts(params);
    for (std::size_t expert = 0; expert < owners.size(); ++expert) {
        left[expert * params.expert_groups / params.experts] -= owners[expert] == rank ? 1U : 0U;
    }
    std::erase(left, 0U);  // a token chooses these groups last
    std::sort(left.begin(), left.end());
    left.resize(std::min(left.size(), params.group_limit));
    std::size_t const reachable = std::accumulate(left.begin(), left.end(), std::size_t{0});
    if (params.top_k > reachable) {
        throw UsageError(fmt::format("--skew '{}': leaves a token {} experts, fewer than --top-k {}",
                                     text_of(parameters, "skew"), reachable, params.top_k));
    }
}

/// Bounds every later sum of bytes far below 2^64: of what all ranks send in all layers.
void check_sizes(Params const& params, WorldShape const& world) {
    auto const experts = static_cast<double>(params.experts);
    auto const tokens = static_cast<double>(params.tokens);
    double const rows =
        params.wire == Wire::padded
            ? experts * static_cast<double>(capacity(params.tokens, params.experts, params.top_k, params.capacity_rule))
        : params.wire == Wire::low_latency
            ? (experts + static_cast<double>(params.redundant_experts)) * tokens  // slots
            : tokens * static_cast<double>(params.top_k);
    constexpr Bytes header_bytes = 16;
    Bytes const row = std::max(dispatch_row_bytes(params.element, params.hidden) + header_bytes,
                               combine_row_bytes(params.element, params.hidden));
    bool const moves = params.placement_before.kind != PlacementRule::Kind::none;
    double const moved = moves ? experts * static_cast<double>(params.expert_bytes) : 0;
    double const calls = static_cast<double>(world.ranks) * static_cast<double>(params.layers);
    constexpr double limit = 0x1p60;
    if (calls * rows * static_cast<double>(row + probability_bytes(params, true)) > limit) {
        throw UsageError(
            fmt::format("--hidden {} with {:.3g} rows per rank and layer, {} layers and {} ranks: more than "
                        "2^60 bytes; make --hidden, --tokens, --top-k, --min-capacity or --layers smaller",
                        params.hidden, rows, params.layers, world.ranks));
    }
    if (calls / static_cast<double>(params.ep) * moved > limit) {
        throw UsageError(fmt::format("--rebalance: {} experts of {} bytes in {} layers of each expert-parallel group "
                                     "are more than 2^60 bytes; make --expert-ffn, --hidden or --layers smaller",
                                     params.experts, params.expert_bytes, params.layers));
    }
}

}  // namespace

Params read_params(Parameters const& parameters, WorldShape const& world) {
    Params params;
    params.hidden = read_unsigned(parameters, "hidden", 1, max_hidden);
    params.experts = read_unsigned(parameters, "experts", 1, max_experts);
    params.top_k = read_unsigned(parameters, "top-k", 1, params.experts);
    params.tokens = read_unsigned(parameters, "tokens", 0, max_tokens);
    params.layers = static_cast<std::uint32_t>(read_unsigned(parameters, "layers", 1, max_layers));
    params.ep = read_ep(parameters, static_cast<std::size_t>(world.ranks), params.experts);
    params.element = read_element(parameters, "element", row_elements);
    params.wire =
        read_enum<Wire>(parameters, "wire", {"expanded", "rank_dedup", "node_dedup", "padded", "low_latency"});
    params.node_ranks = params.wire == Wire::node_dedup ? read_node_ranks(world, params.ep) : params.ep;
    params.capacity_rule.factor = in_millionths(read_real(parameters, "capacity-factor", 0, 1e6));
    params.capacity_rule.min = read_unsigned(parameters, "min-capacity", 0, max_tokens);
    read_routing_skew(parameters, world, params);
    params.direction = read_passes(parameters);
    read_groups(parameters, params);
    check_zero_rank(parameters, params);
    params.group_score = read_enum<GroupScore>(parameters, "group-score", {"best", "best_two"});
    params.probs = read_switch(parameters, "probs");
    read_placement(parameters, world, params);
    check_sizes(params, world);
    read_packings(parameters, params);
    read_row_order(parameters, params);
    check_low_latency(parameters, params);
    return params;
}

}  // namespace dlmb::moe_alltoall
