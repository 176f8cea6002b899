// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Least bytes against brute force: a small model as a list of elements, of which every rank of every layout of 8 ranks
// holds a set. The rules that say which are written here anew, tensor by tensor.
#include "patterns/counts.hpp"
#include "patterns/reshard/routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace dlmb::reshard {
namespace {

constexpr Bytes element_bytes = 2;

/// One number of the model. `head`, `row`: what tensor parallelism counts, out of `rows`; rows 0: it is not cut.
struct Weight {
    std::string_view group;
    std::uint64_t layer = 0;  // embeddings and final norm: 0
    std::uint64_t expert = 0;
    std::uint64_t row = 0;
    std::uint64_t rows = 0;
};

ModelSizes small_model(bool tied) {
    ModelSizes model;
    model.hidden = 2;
    model.layers = 4;
    model.dense_layers = 1;
    model.heads = 8;
    model.kv_heads = 2;
    model.head_dim = 1;
    model.qk_norm = true;
    model.mlp = 10;  // 4 and 8 ranks do not divide it
    model.experts = 8;
    model.expert_mlp = 8;
    model.shared_experts = 1;
    model.vocabulary = 16;
    model.tied = tied;
    return model;
}

/// All weights, tensor by tensor as a framework registers them.
std::vector<Weight> weights_one_by_one(ModelSizes const& m) {
    std::vector<Weight> all;
    auto const add = [&](std::string_view group, std::uint64_t layer, std::uint64_t expert, std::uint64_t rows,
                         std::uint64_t columns, bool cut) {
        for (std::uint64_t row = 0; row < rows; ++row) {
            all.insert(all.end(), columns, Weight{group, layer, expert, row, cut ? rows : 0});
        }
    };
    auto const add_mlp = [&](std::string_view group, std::uint64_t layer, std::uint64_t expert, std::uint64_t width) {
        for (int gate_up_down = 0; gate_up_down < 3; ++gate_up_down) {
            add(group, layer, expert, width, m.hidden, true);
        }
    };
    add("embedding", 0, 0, m.vocabulary, m.hidden, true);
    for (std::uint64_t layer = 0; layer < m.layers; ++layer) {
        add("norms", layer, 0, 1, m.hidden, false);
        add("norms", layer, 0, 1, m.hidden, false);
        add("norms", layer, 0, 1, 2 * m.head_dim, false);
        for (int twice = 0; twice < 2; ++twice) {
            add("queries and output", layer, 0, m.heads, m.head_dim * m.hidden, true);
            add("keys and values", layer, 0, m.kv_heads, m.head_dim * m.hidden, true);
        }
        if (layer < m.dense_layers) {
            add_mlp("mlp", layer, 0, m.mlp);
            continue;
        }
        add("router", layer, 0, 1, m.experts * m.hidden, false);
        add_mlp("shared experts", layer, 0, m.expert_mlp);
        for (std::uint64_t expert = 0; expert < m.experts; ++expert) {
            add_mlp("experts", layer, expert, m.expert_mlp);
        }
    }
    add("final norm", 0, 0, 1, m.hidden, false);
    if (!m.tied) {
        add("head", 0, 0, m.vocabulary, m.hidden, true);
    }
    return all;
}

/// Whether the rank with these coordinates has the weight.
bool has(Weight const& weight, ModelSizes const& m, ParallelLayout const& layout, Place const& place) {
    auto const tp = static_cast<std::uint64_t>(layout.tp);
    auto const own_tp = static_cast<std::uint64_t>(place.tp);
    auto const within = [](std::uint64_t unit, std::uint64_t units, int parts, int own) {
        auto const count = static_cast<std::uint64_t>(parts);
        auto const part = static_cast<std::uint64_t>(own);
        return unit >= part * units / count && unit < (part + 1) * units / count;
    };
    bool const first = place.pp == 0;
    bool const last = place.pp == layout.pp - 1;
    bool on_stage = within(weight.layer, m.layers, layout.pp, place.pp);
    if (weight.group == "embedding") {
        on_stage = first || (m.tied && last);
    } else if (weight.group == "final norm" || weight.group == "head") {
        on_stage = last;
    }
    bool const of_expert = weight.group != "experts" || within(weight.expert, m.experts, layout.ep, place.ep);
    bool of_share = weight.rows == 0 || within(weight.row, weight.rows, layout.tp, place.tp);
    if (weight.group == "keys and values") {
        // Copies of a head where there are more ranks than heads: rank i has those of its queries.
        of_share =
            weight.rows >= tp ? weight.row / (weight.rows / tp) == own_tp : own_tp / (tp / weight.rows) == weight.row;
    }
    return on_stage && of_expert && of_share;
}

std::vector<ParallelLayout> layouts_of(int ranks, Rank first) {
    std::vector<ParallelLayout> all;
    for (int tp = 1; tp <= ranks; ++tp) {
        for (int ep = 1; ep <= ranks; ++ep) {
            for (int pp = 1; pp <= ranks; ++pp) {
                if (ranks % (tp * ep * pp) == 0) {
                    all.push_back({tp, ep, ranks / (tp * ep * pp), pp, first});
                }
            }
        }
    }
    return all;
}

std::string text(ParallelLayout const& from, ParallelLayout const& to) {
    std::string all;
    for (ParallelLayout const& each : {from, to}) {
        for (int const size : {each.tp, each.pp, each.ep, each.dp}) {
            all += std::to_string(size) + " ";
        }
    }
    return all;
}

using Coordinates = std::tuple<std::size_t, std::uint64_t, std::uint64_t, std::uint64_t>;

class BruteForce {
public:
    explicit BruteForce(bool tied)
        : model_(small_model(tied)), groups_(weights_of(model_)), weights_(weights_one_by_one(model_)) {
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            std::size_t group = 0;
            while (groups_.at(group).name != weights_[i].group) {
                ++group;
            }
            Weight const& each = weights_[i];
            places_[{group, each.layer, each.expert, each.rows == 0 ? 0 : each.row}].push_back(i);
        }
    }

    [[nodiscard]] Routes routes(ParallelLayout const& from, ParallelLayout const& to, int world) const {
        return {groups_, model_.layers, from, to, element_bytes, world};
    }

    /// How often each weight arrives at a receiver. Its sender has to hold it.
    [[nodiscard]] std::vector<int> arrivals(Routes const& routes, ParallelLayout const& from, Rank receiver,
                                            PieceSenders senders) const {
        std::vector<int> count(weights_.size());
        for (WeightPiece const& piece : routes.pieces_to(receiver, senders)) {
            std::vector<std::size_t> of_box;
            for (std::uint64_t layer = piece.layers.begin; layer < piece.layers.end; ++layer) {
                for (std::uint64_t expert = piece.experts.begin; expert < piece.experts.end; ++expert) {
                    for (std::uint64_t unit = piece.units.begin; unit < piece.units.end; ++unit) {
                        auto const& here = places_.at({piece.group, layer, expert, unit});
                        of_box.insert(of_box.end(), here.begin(), here.end());
                    }
                }
            }
            for (std::uint64_t i = piece.elements.begin; i < piece.elements.end; ++i) {
                std::size_t const weight = of_box.at(i);
                ++count[weight];
                EXPECT_TRUE(held_by(from, piece.from)[weight]);
            }
        }
        return count;
    }

    /// 1 for each weight that the rank needs and does not hold.
    [[nodiscard]] std::vector<int> lacking(ParallelLayout const& from, ParallelLayout const& to, Rank rank) const {
        std::vector<bool> const none(weights_.size());
        std::vector<bool> const& held = from.has(rank) ? held_by(from, rank) : none;
        std::vector<bool> const& needed = held_by(to, rank);
        std::vector<int> lacks;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            lacks.push_back(needed[i] && !held[i] ? 1 : 0);
        }
        return lacks;
    }

private:
    /// By weight, found once.
    [[nodiscard]] std::vector<bool> const& held_by(ParallelLayout const& layout, Rank rank) const {
        auto const [found, is_new] =
            held_.try_emplace({layout.tp, layout.ep, layout.pp, layout.dp, layout.first, rank}, weights_.size());
        for (std::size_t i = 0; is_new && i < weights_.size(); ++i) {
            found->second[i] = has(weights_[i], model_, layout, layout.place_of(rank));
        }
        return found->second;
    }

    ModelSizes model_;
    std::vector<WeightGroup> groups_;
    std::vector<Weight> weights_;
    std::map<Coordinates, std::vector<std::size_t>> places_;
    mutable std::map<std::array<int, 6>, std::vector<bool>> held_;
};

void expect_least(BruteForce const& brute, ParallelLayout const& from, ParallelLayout const& to, int world) {
    Routes const routes = brute.routes(from, to, world);
    for (PieceSenders const senders : {PieceSenders::one, PieceSenders::all}) {
        std::map<Rank, PeerBytes> peers;
        for (Rank rank = 0; rank < world; ++rank) {
            peers.emplace(rank, routes.peers_of(rank, senders));
        }
        for (Rank rank = 0; rank < world; ++rank) {
            for (Rank other = 0; other < world; ++other) {
                ASSERT_EQ(peers.at(rank).sent.at(static_cast<std::size_t>(other)),
                          peers.at(other).received.at(static_cast<std::size_t>(rank)))
                    << text(from, to);
            }
            if (!to.has(rank)) {
                ASSERT_EQ(sum_of(peers.at(rank).received) + routes.lacking(rank), 0U);
                continue;
            }
            std::vector<int> const lacking = brute.lacking(from, to, rank);
            ASSERT_EQ(brute.arrivals(routes, from, rank, senders), lacking) << text(from, to) << "rank " << rank;
            auto const least = static_cast<Bytes>(std::count(lacking.begin(), lacking.end(), 1)) * element_bytes;
            ASSERT_EQ(sum_of(peers.at(rank).received), least) << text(from, to);
            ASSERT_EQ(routes.lacking(rank), least) << text(from, to);
        }
    }
}

// (tp, pp, ep, dp): 20 factorisations of 8 on either side.
TEST(LeastBytes, EveryReceiverGetsWhatItLacksOnceOnAllLayoutsOfEightSharedRanks) {
    std::vector<ParallelLayout> const all = layouts_of(8, 0);
    ASSERT_EQ(all.size(), 20U);
    for (bool const tied : {false, true}) {
        BruteForce const brute(tied);
        for (ParallelLayout const& from : all) {
            for (ParallelLayout const& to : all) {
                if (!tied || (from.pp > 1 && to.pp > 1)) {  // where the embedding comes from either end
                    expect_least(brute, from, to, 8);
                }
            }
        }
    }
}

TEST(LeastBytes, EveryReceiverGetsWhatItLacksOnceOnAllLayoutsOfFourAndFourRanks) {
    for (bool const tied : {false, true}) {
        BruteForce const brute(tied);
        for (ParallelLayout const& from : layouts_of(4, 0)) {
            for (ParallelLayout const& to : layouts_of(4, 4)) {
                expect_least(brute, from, to, 8);
            }
        }
    }
}

}  // namespace
}  // namespace dlmb::reshard
