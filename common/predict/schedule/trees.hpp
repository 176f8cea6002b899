// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Rounds from one rank to all others and back, along trees: the orders of partners as Open MPI 4.1 has them.
#pragma once

#include "common/predict/schedule/exchanges.hpp"

namespace dlmb::predict {

/// The children of each rank, in the order in which they are served.
using Tree = std::vector<std::vector<int>>;

[[nodiscard]] Tree binomial_tree(int ranks);
/// Of radix 4. The parent of a rank is the rank with its lowest digit that is not zero set to zero.
[[nodiscard]] Tree knomial_tree(int ranks);
[[nodiscard]] Tree binary_tree(int ranks);
[[nodiscard]] Tree chain_tree(int ranks, int fan);

/// A rank passes the vector on when it has it: to all its children at once, or to one after another.
[[nodiscard]] Rounds down(Tree const& children, double share, bool at_once = true);
/// Parents reduce what arrives, one vector after another.
[[nodiscard]] Rounds up(Tree const& children);
/// The same in segments that follow each other closely: every rank is busy with its two children and its parent all the
/// time, and the levels of the tree only add the latency of a segment each.
[[nodiscard]] Rounds pipelined_up(Tree const& children);

[[nodiscard]] Rounds binomial_scatter(int ranks);
/// From the root to every other rank at once.
[[nodiscard]] Rounds star(int ranks, double share);
[[nodiscard]] Rounds gather_bcast(int ranks);
[[nodiscard]] Rounds split_binary(int ranks);

}  // namespace dlmb::predict
