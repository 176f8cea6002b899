// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/token_rows.hpp"

#include "patterns/counts.hpp"
#include "patterns/moe_alltoall/low_latency.hpp"

namespace dlmb::moe_alltoall {
namespace {

/// Rows as their source has them: read from its tokens, and written, when they come back, behind each other by token.
void order_at_source(Params const& params, std::span<RankRows const> by_rank, LayerRows& rows) {
    rows.tokens.tensor_rows = params.tokens;
    rows.back_at_tokens.tensor_rows = params.tokens * params.top_k;
    std::vector<std::uint64_t> seen(params.tokens);  // of each token's rows
    std::uint64_t packed = 0;
    for (RankRows const& to_rank : by_rank) {
        for (RowOrder* order : {&rows.tokens, &rows.back_at_tokens}) {
            order->rank_rows.push_back(to_rank.tokens.size());
        }
        for (std::uint64_t const token : to_rank.tokens) {
            rows.tokens.moves.push_back({.tensor = token, .packed = packed});
            rows.tokens.origins.push_back(token);
            rows.back_at_tokens.moves.push_back({.tensor = token * params.top_k + seen[token]++, .packed = packed});
            ++packed;
        }
    }
}

/// Rows as the experts' rank has them: by expert, then source.
void order_at_experts(std::span<RankRows const> by_source, LayerRows& rows) {
    std::vector<std::uint64_t> packed;  // of each source, the first row of the present expert, of all that travel
    std::vector<std::size_t> token;     // and of those of the source
    for (RankRows const& source : by_source) {
        packed.push_back(packed.empty() ? 0 : packed.back() + rows.at_experts.rank_rows.back());
        token.push_back(0);
        rows.at_experts.rank_rows.push_back(source.tokens.size());
    }
    std::uint64_t tensor = 0;
    std::size_t const experts = by_source.empty() ? 0 : by_source.front().expert_rows.size();
    for (std::size_t expert = 0; expert < experts; ++expert) {
        for (std::size_t source = 0; source < by_source.size(); ++source) {
            std::uint64_t const count = by_source[source].expert_rows.at(expert);
            if (count == 0) {
                continue;
            }
            rows.at_experts.moves.push_back({.rows = count, .tensor = tensor, .packed = packed[source]});
            auto const first = by_source[source].tokens.begin() + static_cast<std::ptrdiff_t>(token[source]);
            rows.at_experts.origins.insert(rows.at_experts.origins.end(), first,
                                           first + static_cast<std::ptrdiff_t>(count));
            tensor += count;
            packed[source] += count;
            token[source] += count;
        }
    }
    rows.at_experts.tensor_rows = tensor;
    rows.of_experts = rows.at_experts;
    rows.of_experts.origins.clear();
}

/// By layer.
std::vector<RankRows> read_rows(Params const& params, SetupCounts const& setup) {
    SetupReader reader(setup);
    (void)reader.take(params.layers);  // the counts of dispatch_hops
    std::vector<RankRows> layers(params.layers);
    for (RankRows& rows : layers) {
        rows.expert_rows = reader.take_expert_rows();
        rows.tokens = reader.take(sum_of(rows.expert_rows));
    }
    return layers;
}

}  // namespace

std::vector<RankRows> rows_of_tokens(Params const& params, Routing const& routing, Rank source, Draw draw,
                                     std::uint32_t layer) {
    ExpertPlacement const placed = routing.placement(draw.seed, layer);
    std::vector<std::vector<std::vector<std::uint64_t>>> tokens(params.ep);  // [rank][expert]
    for (auto& of_rank : tokens) {
        of_rank.resize(params.experts);
    }
    std::uint64_t token = 0;
    routing.for_each_token(source, draw, layer, [&](std::span<std::size_t const> experts) {
        for (std::size_t const expert : experts) {
            tokens[placed.rank_for(expert, token + static_cast<std::uint64_t>(source))][expert].push_back(token);
        }
        ++token;
    });
    std::vector<RankRows> rows(params.ep);
    for (std::size_t rank = 0; rank < params.ep; ++rank) {
        for (std::size_t const expert : placed.experts_of(rank)) {
            std::vector<std::uint64_t> const& of_expert = tokens[rank][expert];
            rows[rank].expert_rows.push_back(of_expert.size());
            rows[rank].tokens.insert(rows[rank].tokens.end(), of_expert.begin(), of_expert.end());
        }
    }
    return rows;
}

void append_rows(RankRows const& rows, SetupCounts& setup) {
    append_expert_rows(rows.expert_rows, setup);
    setup.counts.insert(setup.counts.end(), rows.tokens.begin(), rows.tokens.end());
}

std::vector<LayerRows> layer_rows(Params const& params, std::span<SetupCounts const> own,
                                  std::span<SetupCounts const> received) {
    auto const by_layer = [&params](std::span<SetupCounts const> setup) {
        std::vector<std::vector<RankRows>> layers(params.layers);  // [layer][rank]
        for (SetupCounts const& of_rank : setup) {
            std::vector<RankRows> rows = read_rows(params, of_rank);
            for (std::size_t layer = 0; layer < rows.size(); ++layer) {
                layers[layer].push_back(std::move(rows[layer]));
            }
        }
        return layers;
    };
    auto const sent = by_layer(own);
    auto const arriving = by_layer(received);
    std::vector<LayerRows> layers(params.layers);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        order_at_source(params, sent[layer], layers[layer]);
        order_at_experts(arriving[layer], layers[layer]);
    }
    return layers;
}

}  // namespace dlmb::moe_alltoall
