// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How a tensor lies on a mesh of ranks, and what it costs to lay it out anew. On each axis of the mesh a tensor is
// split along one of its dimensions, broadcast (all hold it), or partial (its sum over the axis is the tensor), as in
// OneFlow (SBP) and AutoDDL (Chen, Li, Guo, Liu, Hoefler, arXiv 2301.06813). Axes that split the same dimension nest:
// the first one makes the outer blocks.
#pragma once

#include "common/tools/predict/pricing.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dlmb::predict {

/// 0, 1, ...: split along that dimension.
enum class Sbp : int { broadcast = -1, partial = -2 };
[[nodiscard]] constexpr Sbp split_along(int dimension) {
    return static_cast<Sbp>(dimension);
}
[[nodiscard]] constexpr bool is_split(Sbp sbp) {
    return static_cast<int>(sbp) >= 0;
}

/// By axis of the mesh.
using Layout = std::vector<Sbp>;
/// Ranks along each axis.
using Mesh = std::vector<int>;

/// "B", "P", "S0"; "(S0,B)" on several axes.
[[nodiscard]] std::string text_of(Sbp sbp);
[[nodiscard]] std::string text_of(Layout const& layout);

/// Counts one up, the last digit the fastest. False: all digits are 0 again.
[[nodiscard]] bool advance(std::vector<int>& digits, std::vector<int> const& bases);

/// One collective, at once in all groups of ranks along `axes`.
struct Move {
    OperationKind operation = OperationKind::all_reduce;
    std::vector<int> axes;  // of the mesh
    int ranks = 1;          // of a group
    double bytes = 0;       // of the full vector of a group; alltoall: what one rank sends, itself included
    double volume = 0;      // bytes that leave a rank, over all ranks of the mesh
    double us = 0;
    Layout from;
    Layout to;
};

/// The cheapest way from one layout to another. Steps change one axis:
///   S -> B  allgather       volume T (p-1)        B -> S    nothing, the part is there
///   P -> S  reduce_scatter         T (p-1)        S(i) -> S(j)  alltoall   volume T (p-1) / p
///   P -> B  allreduce            2 T (p-1)        ? -> P    not done
/// with p ranks on the axis and T bytes of the tensor, in each group T divided by the axes that split it otherwise.
/// Where a later axis splits the same dimension, blocks change places, and B -> S is an alltoall, too: (B,S0) ->
/// (S0,S0) on m x m ranks moves (1 - 1/m) T, for which the table of OneFlow has 0.
class Transitions {
public:
    /// Tensors have two dimensions. Throws UsageError for a mesh of more than 4096 layouts.
    Transitions(Mesh mesh, Price price);

    /// In order; empty where nothing has to move. Throws UsageError where there is no way (to P).
    [[nodiscard]] std::vector<Move> between(Layout const& from, Layout const& to, double tensor_bytes) const;

private:
    /// A change of one axis; the bytes are those of a tensor of one byte.
    struct Step {
        std::size_t to = 0;  // number of the layout
        bool is_free = false;
        Move move;
    };

    [[nodiscard]] std::size_t number_of(Layout const& layout) const;
    [[nodiscard]] std::optional<Step> step(Layout const& from, std::size_t axis, Sbp to) const;
    [[nodiscard]] Move reordering(Layout const& from, Layout const& to, int dimension) const;

    Mesh mesh_;
    Price price_;
    std::vector<std::vector<Step>> steps_;  // by the number of the layout
};

struct MoveCost {
    double us = 0;
    std::size_t moves = 0;

    MoveCost operator+(MoveCost const& other) const { return {us + other.us, moves + other.moves}; }
    /// Less time; of times that differ by rounding only, fewer collectives.
    [[nodiscard]] bool is_below(MoveCost const& other) const;
};
[[nodiscard]] MoveCost cost_of(std::vector<Move> const& moves);

}  // namespace dlmb::predict
