// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The rounds that schedules are made of: exchanges between all ranks (exchanges.cpp), and trees from one rank to all
// others and back (trees.cpp).
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005; Bruck et
// al., "Efficient algorithms for all-to-all communications", 1997; the orders of partners as Open MPI 4.1 has them.
#pragma once

#include "common/tools/predict/schedule.hpp"

#include <functional>

namespace dlmb::predict {

using Rounds = std::vector<Round>;

void append(Rounds& rounds, Rounds more);

/// The same messages backwards, the last round first.
[[nodiscard]] Rounds reversed(Rounds rounds);

/// The largest power of two that is not above `ranks`.
[[nodiscard]] int floor_power(int ranks);

/// The q ranks that are left when the first 2 (P - q) ranks have become pairs: the odd one of each pair stays.
class Folded {
public:
    explicit Folded(int ranks) : left_(floor_power(ranks)), pairs_(ranks - left_) {}

    [[nodiscard]] int left() const { return left_; }
    [[nodiscard]] int rank(int place) const { return place < pairs_ ? 2 * place + 1 : place + pairs_; }
    /// Even ranks give the vector to the odd ones.
    void fold(Rounds& rounds, double share, double reduced) const;
    void unfold(Rounds& rounds, double share) const;
    [[nodiscard]] Round exchange(int distance, double share) const;

private:
    int left_;
    int pairs_;
};

/// Halves the vector in each round; the partner's distance doubles, or halves.
[[nodiscard]] Rounds halving(Folded const& folded, bool nearest_first);
/// Brings the parts that halving with the nearest partners first has left to place 0: in the reverse order of partners.
[[nodiscard]] Rounds gather_after_halving(Folded const& folded);
[[nodiscard]] Rounds doubling_allgather(int ranks);

/// Every rank sends the share to the rank `distance` further on.
[[nodiscard]] Round shift(int ranks, int distance, double share);
[[nodiscard]] Rounds ring(int ranks, bool reduces);
/// A reduce_scatter by buckets (Jain, Sabharwal: Optimal bucket algorithms for large MPI collectives on torus
/// interconnects, 2010): the part that the ring of one dimension leaves is divided by that of the next one.
[[nodiscard]] Rounds bucket(Extents const& extents);
/// Throws UsageError for an odd number of ranks.
[[nodiscard]] Rounds neighbor_exchange(int ranks);

[[nodiscard]] Rounds bruck_allgather(int ranks);
[[nodiscard]] Rounds bruck_alltoall(int ranks);

/// For each distance from 1 to P - 1, or for 64 of them: use(distance, for how many distances it stands).
void for_distances(int ranks, std::function<void(int, double)> const& use);
[[nodiscard]] Rounds pairwise(int ranks, bool reduces);
[[nodiscard]] Rounds all_to_all_at_once(int ranks);

/// The children of each rank, in the order in which they are served.
using Tree = std::vector<std::vector<int>>;

/// A rank's children are at the powers of two above it: the tree of Open MPI's broadcast.
[[nodiscard]] Tree binomial_tree(int ranks);
/// A rank's children are at the powers of two below its lowest bit, so that subtrees are neighbours: the tree of a
/// reduction, in Open MPI and in MPICH.
[[nodiscard]] Tree in_order_binomial_tree(int ranks);
/// Of radix 4. The parent of a rank is the rank with its lowest digit that is not zero set to zero.
[[nodiscard]] Tree knomial_tree(int ranks);
/// A level of n ranks is followed by 2 n; a rank's children are n and 2 n further on (ompi_coll_base_topo_build_tree).
[[nodiscard]] Tree binary_tree(int ranks);
[[nodiscard]] Tree chain_tree(int ranks, int fan);

/// A rank passes the vector on when it has it: to all its children at once, or to one after another.
[[nodiscard]] Rounds down(Tree const& children, double share, bool at_once = true);
/// Parents reduce what arrives, one vector after another.
[[nodiscard]] Rounds up(Tree const& children);
/// The same in segments that follow each other closely: every rank is busy with its children and its parent all the
/// time, and the levels of the tree only add the latency of a segment each.
[[nodiscard]] Rounds pipelined_up(Tree const& children);

[[nodiscard]] Rounds binomial_scatter(int ranks);
/// From the root to every other rank at once.
[[nodiscard]] Rounds star(int ranks, double share);
[[nodiscard]] Rounds gather_bcast(int ranks);
[[nodiscard]] Rounds split_binary(int ranks);

}  // namespace dlmb::predict
