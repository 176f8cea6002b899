// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reshard/weights.hpp"

#include <algorithm>

namespace dlmb::reshard {
namespace {

/// Per layer 2 hidden norms and, of grouped-query attention, (2 heads + 2 kv_heads) * head_dim * hidden. Of latent
/// attention (DeepSeek-V3, inference/model.py, class MLA): wq_a and wkv_a are whole everywhere, wq_b, wkv_b and wo are
/// cut by heads.
void add_attention(std::vector<WeightGroup>& groups, ModelSizes const& m) {
    Range const all{0, m.layers};
    std::uint64_t whole = 2 * m.hidden;
    if (m.kv_lora > 0) {
        whole += m.kv_lora + (m.kv_lora + m.rope_dim) * m.hidden;
        whole += m.q_lora > 0 ? m.q_lora * m.hidden + m.q_lora : 0;
        std::uint64_t const query_input = m.q_lora > 0 ? m.q_lora : m.hidden;
        std::uint64_t const head =
            query_input * (m.head_dim + m.rope_dim) + m.kv_lora * 2 * m.head_dim + m.head_dim * m.hidden;
        groups.push_back({"heads", Stages::layers, all, 1, false, Cut::even, m.heads, head});
    } else {
        whole += m.qk_norm ? 2 * m.head_dim : 0;
        std::uint64_t const head = 2 * m.head_dim * m.hidden;
        groups.push_back({"queries and output", Stages::layers, all, 1, false, Cut::even, m.heads, head});
        groups.push_back({"keys and values", Stages::layers, all, 1, false, Cut::shared_heads, m.kv_heads, head});
    }
    groups.push_back({"norms", Stages::layers, all, 1, false, Cut::whole, 1, whole});
}

/// gate (if there is one), up and down: `hidden` elements each per unit of width.
void add_mlps(std::vector<WeightGroup>& groups, ModelSizes const& m) {
    std::uint64_t const dense = m.experts > 0 ? m.dense_layers : m.layers;
    std::uint64_t const unit = (m.gated ? 3 : 2) * m.hidden;
    Range const sparse{dense, m.layers};
    groups.push_back({"mlp", Stages::layers, {0, dense}, 1, false, Cut::even, m.mlp, unit});
    groups.push_back({"router", Stages::layers, sparse, 1, false, Cut::whole, 1, m.experts * m.hidden});
    groups.push_back(
        {"shared experts", Stages::layers, sparse, 1, false, Cut::even, m.shared_experts * m.expert_mlp, unit});
    groups.push_back({"experts", Stages::layers, sparse, m.experts, true, Cut::even, m.expert_mlp, unit});
}

}  // namespace

std::vector<WeightGroup> weights_of(ModelSizes const& m) {
    std::vector<WeightGroup> groups;
    Range const one{0, 1};
    groups.push_back(
        {"embedding", m.tied ? Stages::ends : Stages::first, one, 1, false, Cut::even, m.vocabulary, m.hidden});
    add_attention(groups, m);
    add_mlps(groups, m);
    groups.push_back({"final norm", Stages::last, one, 1, false, Cut::whole, 1, m.hidden});
    if (!m.tied) {
        groups.push_back({"head", Stages::last, one, 1, false, Cut::even, m.vocabulary, m.hidden});
    }
    std::erase_if(groups, [](WeightGroup const& group) { return group.elements() == 0; });
    return groups;
}

std::vector<Range> stage_parts(WeightGroup const& group, std::uint64_t layers, int pp) {
    std::vector<Range> parts;
    for (int stage = 0; stage < pp; ++stage) {
        if (group.stages == Stages::layers) {
            Range const own = part(layers, pp, stage);
            std::uint64_t const begin = std::max(own.begin, group.layers.begin);
            parts.push_back({begin, std::max(begin, std::min(own.end, group.layers.end))});
        } else {
            bool const has =
                (stage == 0 && group.stages != Stages::last) || (stage == pp - 1 && group.stages != Stages::first);
            parts.push_back(has ? Range{0, 1} : Range{});
        }
    }
    return parts;
}

std::vector<Range> expert_parts(WeightGroup const& group, int ep) {
    std::vector<Range> parts;
    for (int i = 0; i < ep; ++i) {
        parts.push_back(group.expert_parallel ? part(group.experts, ep, i) : Range{0, group.experts});
    }
    return parts;
}

std::vector<Range> unit_parts(WeightGroup const& group, int tp) {
    std::vector<Range> parts;
    auto const ranks = static_cast<std::uint64_t>(tp);
    for (int i = 0; i < tp; ++i) {
        if (group.cut == Cut::whole) {
            parts.push_back({0, group.units});
        } else if (group.cut == Cut::even) {
            parts.push_back(part(group.units, tp, i));
        } else {
            std::uint64_t const end = (static_cast<std::uint64_t>(i) + 1) * group.units;
            parts.push_back({(end - group.units) / ranks, (end + ranks - 1) / ranks});
        }
    }
    return parts;
}

}  // namespace dlmb::reshard
