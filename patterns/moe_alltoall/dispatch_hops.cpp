// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/dispatch_hops.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace dlmb::moe_alltoall {
namespace {

/// Counts a bin at most once per token.
class OncePerToken {
public:
    explicit OncePerToken(std::size_t bins) : counts_(bins), last_(bins, std::numeric_limits<std::uint64_t>::max()) {}
    void count(std::size_t bin, std::uint64_t token) {
        if (last_[bin] != token) {
            last_[bin] = token;
            ++counts_[bin];
        }
    }
    [[nodiscard]] std::vector<std::uint64_t> take() { return std::move(counts_); }

private:
    std::vector<std::uint64_t> counts_;
    std::vector<std::uint64_t> last_;
};

/// Counts rows by rank and expert there.
class HeldRows {
public:
    HeldRows(ExpertPlacement const& placed, std::size_t ranks) : placed_(placed) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            rows_.emplace_back(placed.experts_of(rank).size(), 0);
        }
    }
    void count(std::size_t rank, std::size_t expert) {
        std::span<std::size_t const> const there = placed_.experts_of(rank);
        ++rows_[rank][static_cast<std::size_t>(std::lower_bound(there.begin(), there.end(), expert) - there.begin())];
    }
    [[nodiscard]] RowsOfExperts take() { return std::move(rows_); }

private:
    ExpertPlacement const& placed_;
    RowsOfExperts rows_;
};

/// Where a rank is in its expert-parallel group, which has params.node_ranks ranks on each node.
struct GroupPosition {
    Rank first;         // world rank of the group's rank 0
    std::size_t index;  // rank in the group
    std::size_t local;  // and on its node

    GroupPosition(Params const& params, Rank rank)
        : first(rank / static_cast<Rank>(params.ep) * static_cast<Rank>(params.ep)),
          index(static_cast<std::size_t>(rank - first)), local(index % params.node_ranks) {}
};

/// Counts per layer between two ranks of one rail: rows to deliver, rows to relay, rows per rank there.
std::size_t relay_stride(Params const& params) {
    return 2 + params.node_ranks;
}

/// The counts that one rank sends another for one layer, by meaning.
class CountsView {
public:
    CountsView(Params const& params, SetupCounts const& setup, std::uint32_t layer) {
        bool const relays =
            params.relayed() && GroupPosition(params, setup.from).local == GroupPosition(params, setup.to).local;
        std::size_t const stride = relays ? relay_stride(params) : 1;
        bool const rows_follow = params.pack != Pack::none && setup.counts.size() > stride * params.layers;
        if (setup.counts.size() != stride * params.layers && !rows_follow) {
            throw Error(fmt::format("moe_alltoall: rank {} sent rank {} {} counts at set-up, expected {}", setup.from,
                                    setup.to, setup.counts.size(), stride * params.layers));
        }
        counts_ = std::span(setup.counts).subspan(stride * layer, stride);
    }
    [[nodiscard]] std::uint64_t delivered() const { return counts_[0]; }
    [[nodiscard]] std::uint64_t handed() const { return counts_[1]; }
    [[nodiscard]] std::uint64_t relayed_to(std::size_t local) const { return counts_[2 + local]; }

private:
    std::span<std::uint64_t const> counts_;
};

void expect_one_per_rank(Params const& params, Rank me, std::span<SetupCounts const> setup) {
    if (setup.size() != params.ep) {
        throw Error(
            fmt::format("moe_alltoall: rank {} has counts of {} ranks, expected one per rank of its group of {}", me,
                        setup.size(), params.ep));
    }
}

std::vector<Hop> direct_hops(Params const& params, WorldShape const& world, Rank me, std::uint32_t layer,
                             std::span<SetupCounts const> own, std::span<SetupCounts const> received_counts) {
    Hop hop{params.wire == Wire::node_dedup ? "rank" : "",
            consecutive_group(world, me, static_cast<int>(params.ep)),
            {},
            {}};
    for (std::size_t peer = 0; peer < params.ep; ++peer) {
        hop.send.push_back(CountsView(params, own[peer], layer).delivered());
        hop.recv.push_back(CountsView(params, received_counts[peer], layer).delivered());
    }
    return {std::move(hop)};
}

/// The rail: ranks with this rank's position on every node.
Hop rail_hop(Params const& params, WorldShape const& world, Rank me, std::uint32_t layer,
             std::span<SetupCounts const> own, std::span<SetupCounts const> received_counts) {
    GroupPosition const position(params, me);
    Hop hop{"node",
            strided_group(world, me, static_cast<int>(params.nodes()), static_cast<int>(params.node_ranks)),
            {},
            {}};
    for (std::size_t node = 0; node < params.nodes(); ++node) {
        std::size_t const relay = node * params.node_ranks + position.local;
        hop.send.push_back(CountsView(params, own[relay], layer).handed());
        hop.recv.push_back(CountsView(params, received_counts[relay], layer).handed());
    }
    return hop;
}

/// Inside the node: what the rail handed over goes out, and every source's rows come in through its relay here.
Hop node_hop(Params const& params, WorldShape const& world, Rank me, std::uint32_t layer,
             std::span<SetupCounts const> received_counts) {
    GroupPosition const position(params, me);
    Hop hop{"rank", consecutive_group(world, me, static_cast<int>(params.node_ranks)),
            std::vector<std::uint64_t>(params.node_ranks), std::vector<std::uint64_t>(params.node_ranks)};
    for (std::size_t source = 0; source < params.ep; ++source) {
        CountsView const counts(params, received_counts[source], layer);
        std::size_t const relay = source % params.node_ranks;
        hop.recv[relay] += counts.delivered();
        if (relay != position.local) {
            continue;
        }
        for (std::size_t local = 0; local < params.node_ranks; ++local) {
            hop.send[local] += counts.relayed_to(local);
        }
    }
    return hop;
}

}  // namespace

ExpertCounts count_experts(Params const& params, WorldShape const& world, Routing const& routing, Rank source,
                           Draw draw, std::uint32_t layer) {
    ExpertPlacement const placed = routing.placement(draw.seed, layer);
    std::vector<std::size_t> node_of_rank;  // of the group, from 0
    Rank const first = GroupPosition(params, source).first;
    for (Rank peer = 0; peer < static_cast<Rank>(params.ep); ++peer) {
        node_of_rank.push_back(static_cast<std::size_t>(world.node_of(first + peer) - world.node_of(first)));
    }
    std::vector<std::uint64_t> expert_rows(params.experts);
    std::vector<std::uint64_t> rank_rows(params.ep);
    OncePerToken ranks(params.ep);
    OncePerToken nodes(node_of_rank.back() + 1);
    bool const by_expert = params.wire == Wire::low_latency;
    HeldRows held(placed, by_expert ? params.ep : 0);
    std::uint64_t token = 0;
    routing.for_each_token(source, draw, layer, [&](std::span<std::size_t const> experts) {
        for (std::size_t const expert : experts) {
            ++expert_rows[expert];
            // Sources begin with different replicas, so that few tokens do not all meet on the first one.
            std::size_t const rank = placed.rank_for(expert, token + static_cast<std::uint64_t>(source));
            ++rank_rows[rank];
            if (by_expert) {
                held.count(rank, expert);
            }
            ranks.count(rank, token);
            nodes.count(node_of_rank[rank], token);
        }
        ++token;
    });
    std::vector<std::uint64_t> slots;
    for (std::size_t rank = 0; rank < params.ep; ++rank) {
        slots.push_back(placed.held_by(rank));
    }
    return {std::move(expert_rows), std::move(rank_rows), std::move(slots), ranks.take(), nodes.take(), held.take()};
}

std::vector<std::uint64_t> rows_to_ranks(Params const& params, ExpertCounts const& counts) {
    if (params.wire == Wire::rank_dedup || params.wire == Wire::node_dedup) {
        return counts.rank_tokens;
    }
    if (params.wire == Wire::expanded || params.wire == Wire::low_latency) {
        return counts.rank_rows;
    }
    std::uint64_t const slots = capacity(params.tokens, params.experts, params.top_k, params.capacity_rule);
    std::vector<std::uint64_t> rows;
    for (std::uint64_t const experts : counts.rank_slots) {
        rows.push_back(slots * experts);
    }
    return rows;
}

std::uint64_t dropped(Params const& params, ExpertCounts const& counts) {
    if (params.wire != Wire::padded) {
        return 0;
    }
    std::uint64_t const slots = capacity(params.tokens, params.experts, params.top_k, params.capacity_rule);
    std::uint64_t excess = 0;
    for (std::uint64_t const rows : counts.expert_rows) {
        excess += rows > slots ? rows - slots : 0;
    }
    return excess;
}

std::vector<SetupCounts> counts_to_send(Params const& params, Rank source, std::span<ExpertCounts const> layers) {
    if (params.wire == Wire::padded) {
        return {};
    }
    GroupPosition const from(params, source);
    std::vector<SetupCounts> setup(params.ep);
    for (std::size_t peer = 0; peer < params.ep; ++peer) {
        setup[peer].from = source;
        setup[peer].to = from.first + static_cast<Rank>(peer);
    }
    for (ExpertCounts const& layer : layers) {
        std::vector<std::uint64_t> const rows = rows_to_ranks(params, layer);
        for (std::size_t peer = 0; peer < params.ep; ++peer) {
            if (params.wire == Wire::low_latency) {
                append_expert_rows(layer.held_rows[peer], setup[peer]);
                continue;
            }
            std::vector<std::uint64_t>& counts = setup[peer].counts;
            counts.push_back(rows[peer]);
            if (params.relayed() && peer % params.node_ranks == from.local) {
                std::size_t const node = peer / params.node_ranks;
                counts.push_back(layer.node_tokens[node]);
                auto const first = rows.begin() + static_cast<std::ptrdiff_t>(node * params.node_ranks);
                counts.insert(counts.end(), first, first + static_cast<std::ptrdiff_t>(params.node_ranks));
            }
        }
    }
    return setup;
}

std::vector<Hop> padded_hops(Params const& params, WorldShape const& world, Rank me, ExpertPlacement const& placed) {
    std::uint64_t const slots = capacity(params.tokens, params.experts, params.top_k, params.capacity_rule);
    Hop hop{"", consecutive_group(world, me, static_cast<int>(params.ep)), {}, {}};
    for (std::size_t peer = 0; peer < params.ep; ++peer) {
        hop.send.push_back(slots * placed.held_by(peer));
        hop.recv.push_back(slots * placed.held_by(GroupPosition(params, me).index));
    }
    return {std::move(hop)};
}

std::vector<Hop> hops_of(Params const& params, WorldShape const& world, Rank me, std::uint32_t layer,
                         std::span<SetupCounts const> own, std::span<SetupCounts const> received_counts) {
    expect_one_per_rank(params, me, own);
    expect_one_per_rank(params, me, received_counts);
    if (!params.relayed()) {
        return direct_hops(params, world, me, layer, own, received_counts);
    }
    std::vector<Hop> hops;
    hops.push_back(rail_hop(params, world, me, layer, own, received_counts));
    hops.push_back(node_hop(params, world, me, layer, received_counts));
    return hops;
}

}  // namespace dlmb::moe_alltoall
