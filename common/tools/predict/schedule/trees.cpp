// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/schedule/rounds.hpp"

#include <algorithm>
#include <utility>

namespace dlmb::predict {
namespace {

/// The children of each rank, in the order in which they are served.
using Tree = std::vector<std::vector<int>>;

/// `children_of` calls add(child) for each child of a rank.
template <class ChildrenOf>
Tree tree_of(int ranks, ChildrenOf const& children_of) {
    Tree tree(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        children_of(rank, [&](int child) { tree[static_cast<std::size_t>(rank)].push_back(child); });
    }
    return tree;
}

/// A rank's children are at the powers of two above it: the tree of Open MPI's broadcast.
Tree binomial_tree(int ranks) {
    return tree_of(ranks, [ranks](int rank, auto const& add) {
        for (int distance = 1; rank + distance < ranks; distance *= 2) {
            if (distance > rank) {
                add(rank + distance);
            }
        }
    });
}

/// The parent of a rank is the rank with its lowest digit that is not zero set to zero, so that subtrees are
/// neighbours. Of radix 2 the tree of a reduction, in Open MPI and in MPICH.
Tree knomial_tree(int ranks, int radix) {
    return tree_of(ranks, [ranks, radix](int rank, auto const& add) {
        int top = 1;
        while (rank == 0 ? top < ranks : rank / top % radix == 0) {
            top *= radix;
        }
        for (int digit = top / radix; digit > 0; digit /= radix) {
            for (int times = 1; times < radix && rank + times * digit < ranks; ++times) {
                add(rank + times * digit);
            }
        }
    });
}

/// A level of n ranks is followed by 2 n; a rank's children are n and 2 n further on (ompi_coll_base_topo_build_tree).
Tree binary_tree(int ranks) {
    return tree_of(ranks, [ranks](int rank, auto const& add) {
        int const level = floor_power(rank + 1);  // ranks of this level
        for (int const child : {rank + level, rank + 2 * level}) {
            if (child < ranks) {
                add(child);
            }
        }
    });
}

Tree chain_tree(int ranks, int fan) {
    Tree children(static_cast<std::size_t>(ranks));
    int const others = ranks - 1;
    int first = 1;
    for (int chain = 0; chain < fan && first < ranks; ++chain) {
        int const length = others / fan + (chain < others % fan ? 1 : 0);
        for (int rank = first; rank < first + length; ++rank) {
            children[static_cast<std::size_t>(rank == first ? 0 : rank - 1)].push_back(rank);
        }
        first += length;
    }
    return children;
}

/// How many messages of the same rank each message of the longest way follows, in all. A rank sends to its children in
/// their order: the first one, which has the most below it, does not wait for the others.
int queued_on_longest_way(Tree const& children) {
    constexpr double of_round = 0.5;  // of the time of a round, that a further message of a rank takes
    std::vector<std::pair<double, int>> ways(children.size());  // rounds, further messages
    std::vector<int> order{0};
    std::pair<double, int> longest;
    for (std::size_t at = 0; at < order.size(); ++at) {
        auto const& [time, waits] = ways[static_cast<std::size_t>(order[at])];
        int before = 0;
        for (int const child : children[static_cast<std::size_t>(order[at])]) {
            ways[static_cast<std::size_t>(child)] = {time + 1 + of_round * before, waits + before};
            longest = std::max(longest, ways[static_cast<std::size_t>(child)]);
            order.push_back(child);
            ++before;
        }
    }
    return longest.second;
}

/// A rank passes the vector on when it has it: to all its children at once, or to one after another.
Rounds down(Tree const& children, double share = 1, bool at_once = true) {
    Rounds rounds;
    std::vector<std::pair<int, std::size_t>> queue{{0, 0}};  // rank, round in which it has the vector
    for (std::size_t at = 0; at < queue.size(); ++at) {
        auto const [rank, round] = queue[at];
        std::size_t when = round;
        for (int const child : children[static_cast<std::size_t>(rank)]) {
            if (rounds.size() <= when) {
                rounds.resize(when + 1);
            }
            rounds[when].messages.push_back({rank, child, share});
            queue.emplace_back(child, when + 1);
            when += at_once ? 0 : 1;
        }
    }
    double const waits = at_once ? queued_on_longest_way(children) : 0;
    for (Round& round : rounds) {
        round.queued = 1 + waits / static_cast<double>(rounds.size());
    }
    return rounds;
}

/// Parents reduce what arrives, one vector after another.
Rounds up(Tree const& children) {
    return reducing(reversed(down(children, 1, false)), 1);
}

/// The same in segments that follow each other closely: every rank is busy with its children and its parent all the
/// time, and the levels of the tree only add the latency of a segment each.
Rounds pipelined_up(Tree const& children) {
    Rounds rounds = reducing(up(children), 0);
    Round together;
    for (Round& round : rounds) {
        for (Message& message : round.messages) {
            together.messages.push_back(message);
            message.share = 0;
        }
    }
    for (auto const& of_rank : children) {
        together.reduced = std::max(together.reduced, static_cast<double>(of_rank.size()));
    }
    rounds.push_back(std::move(together));
    return rounds;
}

Rounds binomial_scatter(int ranks) {
    Rounds rounds;
    int top = floor_power(ranks);
    top = top < ranks ? 2 * top : top;
    for (int distance = top / 2; distance > 0; distance /= 2) {
        Round round;
        for (int rank = 0; rank + distance < ranks; rank += 2 * distance) {
            int const blocks = std::min(distance, ranks - rank - distance);
            round.messages.push_back({rank, rank + distance, static_cast<double>(blocks) / ranks});
        }
        rounds.push_back(std::move(round));
    }
    return rounds;
}

Rounds split_binary(int ranks) {
    Rounds rounds = down(binary_tree(ranks), 0.5);
    // Odd ranks are the left half of the tree and have the left half of the vector. The last one has no neighbour.
    Round swap;
    for (int rank = 1; rank < ranks; rank += 2) {
        int const other = rank + 1 < ranks ? rank + 1 : 0;
        swap.messages.push_back({rank, other, 0.5});
        swap.messages.push_back({other, rank, 0.5});
    }
    rounds.push_back(std::move(swap));
    return rounds;
}

/// The question to a rank and its answer: two messages that nothing else overlaps.
Rounds asked_one_by_one(int ranks) {
    Rounds rounds;
    for_distances(ranks, [&](int rank, double stands_for) {
        rounds.push_back({{{0, rank, 0}}, stands_for});
        rounds.push_back({{{rank, 0, 1.0 / ranks}}, stands_for});
    });
    return rounds;
}

}  // namespace

Rounds star(int ranks, double share) {
    Round round;
    for (int rank = 1; rank < ranks; ++rank) {
        round.messages.push_back({0, rank, share});
    }
    return {round};
}

Rounds star_up(int ranks) {
    return reducing(reversed(star(ranks, 1)), ranks - 1);
}

Rounds gather_bcast(int ranks) {
    Rounds rounds = then(reversed(star(ranks, 1.0 / ranks)), down(binary_tree(ranks), 0));
    Round together;  // the segments of the broadcast
    for (int rank = 1; rank < ranks; ++rank) {
        together.messages.push_back({rank - 1, rank, 1});
    }
    rounds.push_back(std::move(together));
    return rounds;
}

std::span<ScheduleRow const> tree_schedules() {
    using C = Collective;
    static constexpr ScheduleRow rows[] = {
        {C::bcast, "binomial", 0, [](int p) { return down(binomial_tree(p)); }},
        {C::bcast, "binary", 0, [](int p) { return down(binary_tree(p)); }},
        {C::bcast, "knomial", 0, [](int p) { return down(knomial_tree(p, 4)); }},
        {C::bcast, "split_binary", 0, split_binary},
        {C::bcast, "chain", 0, [](int p) { return down(chain_tree(p, 4)); }},
        {C::bcast, "three_chains", 0, [](int p) { return down(chain_tree(p, 3)); }},
        {C::bcast, "pipeline", 0, [](int p) { return down(chain_tree(p, 1)); }},
        {C::bcast, "linear", 0, [](int p) { return star(p, 1); }},
        {C::bcast, "scatter_allgather", 0, [](int p) { return then(binomial_scatter(p), doubling_allgather(p)); }},
        {C::bcast, "scatter_allgather_ring", 0, [](int p) { return then(binomial_scatter(p), ring(p, false)); }},
        {C::reduce, "binomial", 1, [](int p) { return up(knomial_tree(p, 2)); }},
        {C::reduce, "binary", 1, [](int p) { return up(binary_tree(p)); }},
        {C::reduce, "binomial_pipelined", 1, [](int p) { return pipelined_up(knomial_tree(p, 2)); }},
        {C::reduce, "binary_pipelined", 1, [](int p) { return pipelined_up(binary_tree(p)); }},
        {C::reduce, "chain", 1, [](int p) { return up(chain_tree(p, 4)); }},
        {C::reduce, "three_chains", 1, [](int p) { return up(chain_tree(p, 3)); }},
        {C::reduce, "pipeline", 1, [](int p) { return up(chain_tree(p, 1)); }},
        {C::reduce, "linear", 1, star_up},
        {C::reduce, "rabenseifner", 2, halving_reduce},
        {C::scatter, "binomial", 0.5, binomial_scatter},
        {C::scatter, "linear", 0, [](int p) { return star(p, 1.0 / p); }},
        {C::gather, "binomial", 0.5, [](int p) { return reversed(binomial_scatter(p)); }},
        {C::gather, "linear", 0, [](int p) { return reversed(star(p, 1.0 / p)); }},
        {C::gather, "linear_sync", 0, asked_one_by_one},
    };
    return rows;
}

}  // namespace dlmb::predict
