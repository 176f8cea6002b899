// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collective algorithms as pure functions from a shape to this rank's micro-steps. Any number of places, any size, zero
// included, in place or not. Every element is reduced in one fixed order of operands, on one place or alike on all: the
// result is the same to the bit everywhere, also where the reduction does not commute (a NaN's bits, zeros of two
// signs) or is not associative. P: places, S: Shape::bytes.
#pragma once

#include "common/backend_kit/algorithms/shape.hpp"

namespace dlmb::algorithms {

using Algorithm = MicroPlan (*)(Shape const& shape, Knobs const& knobs);

/// all_reduce. log2 P rounds of S bytes (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication
/// Operations in MPICH, 2005, section 4.1); with P no power of two, pairs of neighbours first become one.
/// Order: neighbouring ranges of places are joined, the lower one left.
[[nodiscard]] MicroPlan recursive_doubling(Shape const& shape, Knobs const& knobs);

/// all_reduce, reduce_scatter, all_gather. P - 1 rounds of S / P bytes to the right neighbour, once to reduce and once
/// to gather (Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms, 2009): 2 S (P - 1) / P and S (P - 1) / P sent.
/// knobs.segment: pieces of a part that travel on their own. Order: part p from place p + 1 around to p.
[[nodiscard]] MicroPlan ring(Shape const& shape, Knobs const& knobs);

/// all_reduce, reduce_scatter, all_gather. Ranges of places are split into `radix` smaller ones, each of which gets its
/// share of the data from the others, until a range is one place; gathering goes the way back (Rabenseifner's algorithm
/// with any radix, and with ranges that differ by one place instead of a fold). ceil(log_k P) rounds; reducing sends
/// S (P - 1) / P per place, gathering receives as much. Order: ranges by number, inside a range by place.
[[nodiscard]] MicroPlan knomial(Shape const& shape, Knobs const& knobs);

/// broadcast. A tree in which a place sends to up to `radix` - 1 others per round, the largest subtree first.
[[nodiscard]] MicroPlan knomial_tree(Shape const& shape, Knobs const& knobs);

/// broadcast. From the root around the ring, in pieces of knobs.segment.
[[nodiscard]] MicroPlan chain(Shape const& shape, Knobs const& knobs);

/// broadcast. The root sends each other place a part of S / (P - 1), and these send theirs to each other: two rounds,
/// at most S sent per place, but for parts of less than one element (scatter and collect of Barnett, Gupta, Payne,
/// Shuler, van de Geijn, Watts: Interprocessor Collective Communication Library, 1994, with direct messages and no part
/// for the root, which has all).
[[nodiscard]] MicroPlan scatter_allgather(Shape const& shape, Knobs const& knobs);

/// all_gather. ceil(log2 P) rounds of 1, 2, 4 ... parts (Bruck et al.: Efficient Algorithms for All-to-All
/// Communications in Multiport Message-Passing Systems, 1997); a run of parts that wraps around is two messages.
[[nodiscard]] MicroPlan bruck_all_gather(Shape const& shape, Knobs const& knobs);

/// exchange of equal blocks. ceil(log2 P) rounds in which each block travels the bits of its distance (the same paper);
/// about S / 2 sent per round.
[[nodiscard]] MicroPlan bruck_exchange(Shape const& shape, Knobs const& knobs);

/// all_gather. P / 2 rounds of two parts between neighbours on alternating sides (Chen, Zhang, Zhang, Yuan: Performance
/// Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet, 2005). Odd P: as `ring`.
[[nodiscard]] MicroPlan neighbor(Shape const& shape, Knobs const& knobs);

/// all_reduce, reduce_scatter, all_gather, broadcast: the algorithm above that `choose` names.
[[nodiscard]] MicroPlan automatic(Shape const& shape, Knobs const& knobs);

/// What `automatic` does with an operation of this size: the numbers are in automatic.cpp.
[[nodiscard]] Algorithm choose(Shape const& shape);

inline constexpr int default_radix = 4;
inline constexpr Bytes default_segment = Bytes{256} << 10;

}  // namespace dlmb::algorithms
