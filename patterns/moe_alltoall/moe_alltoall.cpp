// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/moe_alltoall.hpp"

#include "common/base/error.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/sizes/inequality.hpp"
#include "patterns/counts.hpp"
#include "patterns/model_parameters.hpp"
#include "patterns/moe_alltoall/dispatch_hops.hpp"
#include "patterns/moe_alltoall/low_latency.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/routing.hpp"
#include "patterns/moe_alltoall/token_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace dlmb::moe_alltoall {

extern std::string_view const presets_json;  // presets.json, embedded by dlmb_add_pattern

namespace {

// Places of the totals in the vector; expert loads and then rank loads follow.
enum Total : std::size_t { tokens, rows, rows_relayed, rows_dropped, token_ranks, token_nodes, totals };

// Places of a draw's state, at the end of the vector where the skew moves.
enum State : std::size_t { hot_expert, shift, in_burst, states };

/// One token on its way: `bytes`, or packed. `moved`: it lies elsewhere than it travels (token_rows.hpp).
struct SentRow {
    Bytes bytes;
    std::optional<BlockFormat> packing = std::nullopt;
    bool moved = false;
};

/// Labels: [pack.|unpack.]phase[.probs][.put|.wait|.node|.rank][.backward][.layer]; rebalance[.layer]. Each step waits
/// for the one before it; a put and the wait beside it for the same ones.
class DispatchSteps {
public:
    /// `rows`: by layer, with --pack; else empty.
    DispatchSteps(Params const& params, WorldShape const& world, Rank me, std::vector<LayerRows> rows)
        : params_(params), group_(consecutive_group(world, me, static_cast<int>(params.ep))),
          place_(static_cast<std::size_t>(me) % params.ep), rows_(std::move(rows)), builder_(me) {}

    /// Experts move to where the iteration needs them.
    void rebalance(std::uint32_t layer, ExpertPlacement const& before, ExpertPlacement const& after) {
        MovedExperts const moved = moved_experts(before, after, place_, params_.ep);
        exchange(group_, moved.sent, moved.received, SentRow{params_.expert_bytes}, label("rebalance", "", "", layer));
    }

    void forward(std::uint32_t layer, std::vector<Hop> const& hops) {
        if (params_.wire != Wire::padded) {
            count_exchange(layer);
        }
        to_experts("dispatch", hops, dispatch_, "", layer);
        if (params_.probs) {
            to_experts("dispatch.probs", hops, SentRow{probability_bytes(params_, true)}, "", layer);
        }
        from_experts("combine", hops, combine_, "", layer);
    }

    /// As DeepEP's low-latency kernels: no counts, and rows go back when all have come.
    void low_latency(std::uint32_t layer, LowLatencyRows const& rows) {
        GroupId const id = builder_.group(group_);
        std::string const suffix = label("", "", "", layer);
        PutAndWait const there = add_dispatch(builder_, params_, id, place_, rows, suffix, after_);
        PutAndWait const back = add_combine(builder_, params_, id, place_, rows, suffix, {there.put, there.wait});
        after_ = {back.put, back.wait};
    }

    /// Gradients: of combine first, towards the experts as dispatch rows; then of dispatch, back to the tokens.
    void backward(std::uint32_t layer, std::vector<Hop> const& hops) {
        to_experts("combine", hops, dispatch_, "backward", layer);
        if (params_.probs) {
            from_experts("dispatch.probs", hops, SentRow{probability_bytes(params_, false)}, "backward", layer);
        }
        from_experts("dispatch", hops, combine_, "backward", layer);
    }

    [[nodiscard]] Plan finish() && { return std::move(builder_).finish(); }

private:
    void count_exchange(std::uint32_t layer) {
        Bytes const gathered = Bytes{8} * (params_.experts + params_.redundant_experts) * params_.ep;
        after_ = {builder_.all_gather(builder_.group(group_), gathered, Element::int64,
                                      label("count_exchange", "", "", layer), after_)};
    }

    /// Rows travel from the tokens' ranks to the experts' ranks.
    void to_experts(std::string_view phase, std::vector<Hop> const& hops, SentRow const& row, std::string_view pass,
                    std::uint32_t layer) {
        if (row.moved) {
            rearranged(hops.front().group, rows_[layer].tokens, rows_[layer].at_experts, row,
                       label(phase, hops.front().name, pass, layer));
            return;
        }
        for (Hop const& hop : hops) {
            exchange(hop.group, hop.send, hop.recv, row, label(phase, hop.name, pass, layer));
        }
    }

    /// The same rows back: last hop first, what was received is sent.
    void from_experts(std::string_view phase, std::vector<Hop> const& hops, SentRow const& row, std::string_view pass,
                      std::uint32_t layer) {
        if (row.moved) {
            rearranged(hops.front().group, rows_[layer].of_experts, rows_[layer].back_at_tokens, row,
                       label(phase, hops.front().name, pass, layer));
            return;
        }
        for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
            exchange(hop->group, hop->recv, hop->send, row, label(phase, hop->name, pass, layer));
        }
    }

    void rearranged(Group const& group, RowOrder const& sent, RowOrder const& received, SentRow const& row,
                    std::string const& label) {
        GroupId const id = builder_.group(group);
        if (row.packing) {
            PackedRowShape const packed{{*row.packing, params_.element}, params_.hidden};
            after_ = {builder_.rearranged_exchange(id, sent, received, packed, mover_of(params_.pack), label, after_)};
        } else {
            after_ = {add_exchange_of_rows(builder_, params_.pack, id, sent, received, row.bytes, label, after_)};
        }
    }

    void exchange(Group const& group, std::vector<std::uint64_t> const& send, std::vector<std::uint64_t> const& recv,
                  SentRow const& row, std::string label) {
        GroupId const id = builder_.group(group);
        if (row.packing) {
            after_ = {builder_.packed_exchange(id, send, recv, params_.hidden, {*row.packing, params_.element}, label,
                                               after_)};
        } else {
            after_ = {
                builder_.exchange(id, bytes_of(send, row.bytes), bytes_of(recv, row.bytes), std::move(label), after_)};
        }
    }

    [[nodiscard]] std::string label(std::string_view phase, std::string_view hop, std::string_view pass,
                                    std::uint32_t layer) const {
        std::string text(phase);
        for (std::string_view const part : {hop, pass}) {
            if (!part.empty()) {
                text += fmt::format(".{}", part);
            }
        }
        return params_.layers > 1 ? fmt::format("{}.{}", text, layer) : text;
    }

    Params const& params_;
    Group group_;        // that shares one set of experts
    std::size_t place_;  // in it
    bool moved_ = params_.pack != Pack::none;
    SentRow dispatch_{dispatch_row_bytes(params_.element, params_.hidden), params_.dispatch_packing, moved_};
    SentRow combine_{combine_row_bytes(params_.element, params_.hidden), params_.combine_packing, moved_};
    std::vector<LayerRows> rows_;
    PlanBuilder builder_;
    std::vector<StepId> after_;
};

/// One source's counts. Expert and rank loads are those of the first layer: each layer has its own popular experts, and
/// a sum over layers would look more even than any of them. So would loads of ranks that are summed over groups.
std::vector<std::uint64_t> statistic_counts(Params const& params, int ranks, Rank source,
                                            std::span<ExpertCounts const> layers) {
    std::vector<std::uint64_t> counts(totals);
    for (ExpertCounts const& layer : layers) {
        std::uint64_t const to_ranks = sum_of(rows_to_ranks(params, layer));
        std::uint64_t const to_nodes = sum_of(layer.node_tokens);
        counts[tokens] += params.tokens;
        counts[rows] += params.relayed() ? to_nodes : to_ranks;
        counts[rows_relayed] += params.relayed() ? to_ranks : 0;
        counts[rows_dropped] += dropped(params, layer);
        counts[token_ranks] += sum_of(layer.rank_tokens);
        counts[token_nodes] += to_nodes;
    }
    ExpertCounts const& first = layers.front();
    counts.insert(counts.end(), first.expert_rows.begin(), first.expert_rows.end());
    std::vector<std::uint64_t> const loads = rows_to_ranks(params, first);
    auto const place = static_cast<std::size_t>(source);
    std::size_t const group = counts.size() + place - place % params.ep;
    counts.resize(counts.size() + static_cast<std::size_t>(ranks));
    std::copy(loads.begin(), loads.end(), counts.begin() + static_cast<std::ptrdiff_t>(group));
    // One rank counts the experts of each rank, so that the sum over all ranks is their number.
    for (std::size_t rank = 0; rank < params.ep; ++rank) {
        counts.push_back(place == rank ? first.rank_slots[rank] : 0);
    }
    return counts;
}

/// The draw's popularity in the first layer, reported by one rank.
std::vector<std::uint64_t> state_counts(Params const& params, Routing const& routing, Rank source, Draw draw) {
    if (!params.moving.any()) {
        return {};
    }
    if (source != 0) {
        return std::vector<std::uint64_t>(states);
    }
    std::vector<double> const weights = routing.weights(source, draw, 0);
    auto const hot = std::max_element(weights.begin(), weights.end()) - weights.begin();
    return {static_cast<std::uint64_t>(hot), routing.motion().shift(draw.index),
            routing.motion().burst_expert(draw, 0) ? 1U : 0U};
}

std::vector<Statistic> statistics_of(Params const& params, WorldShape const& world,
                                     std::span<std::uint64_t const> summed) {
    auto const all_ranks = static_cast<std::size_t>(world.ranks);
    std::size_t const known = totals + params.experts + all_ranks + params.ep;
    std::size_t const expected = known + (params.moving.any() ? std::size_t{states} : 0);
    require_statistics("moe_alltoall", summed, expected);
    auto const per_token = [&](Total total) {
        return summed[tokens] == 0 ? 0 : static_cast<double>(summed[total]) / static_cast<double>(summed[tokens]);
    };
    auto const experts = summed.subspan(totals, params.experts);
    auto const ranks = summed.subspan(totals + params.experts, all_ranks);
    auto const held = summed.subspan(totals + params.experts + all_ranks, params.ep);
    auto const state = summed.subspan(known);
    std::vector<Statistic> statistics{
        {"gini_expert", gini(experts)},
        {"max_mean_expert", max_over_mean(experts)},
        {"gini_rank", gini(ranks)},
        {"max_mean_rank", max_over_mean(ranks), params.moving.any() ? OverDraws::mean_and_each : OverDraws::mean},
        {"rows_total", static_cast<double>(summed[rows])},
        {"ranks_per_token", per_token(token_ranks)},
        {"experts_per_rank_most", static_cast<double>(largest_of(held))},
    };
    if (world.ranks_per_node > 0) {
        statistics.push_back({"nodes_per_token", per_token(token_nodes)});
    }
    if (params.relayed()) {
        statistics.push_back({"rows_relayed", static_cast<double>(summed[rows_relayed])});
    }
    if (params.wire == Wire::padded) {
        statistics.push_back({"dropped_tokens", static_cast<double>(summed[rows_dropped])});
    }
    if (params.moving.any()) {
        statistics.push_back({"hot_expert", static_cast<double>(state[hot_expert]), OverDraws::each});
    }
    if (params.moving.period > 0) {
        statistics.push_back({"shift", static_cast<double>(state[shift]), OverDraws::each});
    }
    if (params.moving.burst_length > 0) {
        statistics.push_back({"in_burst", static_cast<double>(state[in_burst]), OverDraws::mean_and_each});
    }
    return statistics;
}

class MoeAlltoall final : public Pattern {
public:
    MoeAlltoall(Params const& params, WorldShape const& world)
        : params_(params), world_(world), routing_(params, world) {}

    [[nodiscard]] RankSetup setup_of(Rank source, Draw draw) const override {
        std::vector<ExpertCounts> layers;
        for (std::uint32_t layer = 0; layer < params_.layers; ++layer) {
            layers.push_back(count_experts(params_, world_, routing_, source, draw, layer));
        }
        RankSetup setup{counts_to_send(params_, source, layers),
                        statistic_counts(params_, world_.ranks, source, layers)};
        std::vector<std::uint64_t> const state = state_counts(params_, routing_, source, draw);
        setup.statistics.insert(setup.statistics.end(), state.begin(), state.end());
        for (std::uint32_t layer = 0; layer < params_.layers && params_.pack != Pack::none; ++layer) {
            std::vector<RankRows> const rows = rows_of_tokens(params_, routing_, source, draw, layer);
            for (std::size_t peer = 0; peer < rows.size(); ++peer) {
                append_rows(rows[peer], setup.counts_to_send[peer]);
            }
        }
        return setup;
    }

    [[nodiscard]] Plan build(Rank me, Draw draw, RankSetup const& own,
                             std::span<SetupCounts const> received_counts) const override {
        auto const hops = [&](std::uint32_t layer) {
            if (params_.wire == Wire::padded) {
                return padded_hops(params_, world_, me, routing_.placement(draw.seed, layer));
            }
            return hops_of(params_, world_, me, layer, own.counts_to_send, received_counts);
        };
        DispatchSteps steps(params_, world_, me,
                            params_.pack == Pack::none ? std::vector<LayerRows>{}
                                                       : layer_rows(params_, own.counts_to_send, received_counts));
        if (params_.placement_before.kind != PlacementRule::Kind::none) {
            for (std::uint32_t layer = 0; layer < params_.layers; ++layer) {
                steps.rebalance(layer, routing_.placement_before(draw.seed, layer),
                                routing_.placement(draw.seed, layer));
            }
        }
        for (std::uint32_t layer = 0; layer < params_.layers && params_.direction != Passes::backward; ++layer) {
            if (params_.wire == Wire::low_latency) {
                steps.low_latency(layer, low_latency_rows(own.counts_to_send, received_counts, layer));
            } else {
                steps.forward(layer, hops(layer));
            }
        }
        for (std::uint32_t layer = params_.layers; layer-- > 0 && params_.direction != Passes::forward;) {
            steps.backward(layer, hops(layer));
        }
        return std::move(steps).finish();
    }

    [[nodiscard]] std::vector<Statistic> statistics(std::span<std::uint64_t const> summed) const override {
        return statistics_of(params_, world_, summed);
    }

    [[nodiscard]] std::vector<OperationUse> operations() const override {
        if (params_.wire == Wire::low_latency) {
            std::vector<OperationUse> uses{{OperationKind::put}, {OperationKind::wait_signal}};
            if (params_.placement_before.kind != PlacementRule::Kind::none) {
                uses.push_back({OperationKind::exchange});
            }
            return uses;
        }
        return {{OperationKind::exchange, false, params_.pack == Pack::fused}, {OperationKind::all_gather, true}};
    }

    [[nodiscard]] bool draws_differ() const override { return true; }

    [[nodiscard]] Parameters resolved() const override { return {{"ep", fmt::format("{}", params_.ep)}}; }

    [[nodiscard]] std::vector<std::string> remarks() const override {
        std::vector<std::string> remarks;
        if (params_.wire == Wire::node_dedup && !params_.relayed()) {
            remarks.emplace_back("--wire node_dedup: the ranks of a group are on one node, so that nothing is handed "
                                 "on and rows go as with rank_dedup");
        }
        std::size_t const fewest = params_.experts / params_.ep;
        using Kind = PlacementRule::Kind;
        bool const counted = params_.placement.kind == Kind::block || params_.placement.kind == Kind::cyclic;
        if (params_.experts % params_.ep != 0 && counted) {
            double const mean = static_cast<double>(params_.experts) / static_cast<double>(params_.ep);
            remarks.push_back(fmt::format(
                "{} experts on --ep {} are {} or {} per rank: with balanced routing the busiest rank has {:.2f} times "
                "the mean",
                params_.experts, params_.ep, fewest, fewest + 1, static_cast<double>(fewest + 1) / mean));
        }
        return remarks;
    }

private:
    Params params_;
    WorldShape world_;
    Routing routing_;
};

std::unique_ptr<Pattern> make(Parameters const& parameters, WorldShape const& world) {
    return std::make_unique<MoeAlltoall>(read_params(parameters, world), world);
}

constexpr std::string_view phases[] = {"rebalance", "count_exchange", "pack", "dispatch", "unpack", "combine"};

ModelDerived of_model(ModelShape const& model, Parallelism const& parallel) {
    ModelParameters parameters(model, parallel, {"ep"});
    parameters.needed("hidden", model.hidden, "its hidden size")
        .needed("experts", model.experts, "its number of experts")
        .needed("top-k", model.top_k, "how many experts a token has")
        .needed("layers", model.layers - std::min(model.layers, model.dense_layers), "its layers with experts")
        .optional("ep", parallel.ep)
        .optional("expert-groups", model.expert_groups)
        .optional("group-limit", model.group_limit)
        .text("group-score", model.group_of_two_best ? "best_two" : "best")
        .element();
    return parameters.derived();
}

}  // namespace

PatternType const& type() {
    static PatternType const moe_alltoall{
        "moe_alltoall",    "mixture-of-experts dispatch and combine (expert parallelism)",
        parameter_infos(), phases,
        presets_json,      make,
        of_model};
    return moe_alltoall;
}

}  // namespace dlmb::moe_alltoall
