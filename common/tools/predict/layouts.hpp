// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How the layers of a model are best divided over a mesh (AutoDDL, arXiv 2301.06813): a chain of matrix products, each
// divided on each axis of the mesh in one of three ways, and the collectives that one training step then needs. All
// ranks always share the multiplications evenly, so only communication is priced.
//
//               X [tokens, inputs]   W [inputs, outputs]   Y           dY       dX    dW
//     data      S0                   B                     S0          S0       S0    P
//     column    B                    S1                    S1          S1       P     S1
//     row       S1                   S0                    P           B        S1    S0
//
// Y becomes the next layer's X, dX the dY of the layer before, dW what W is. The first X may lie in any way; of the
// last Y the loss is taken, B or S0, whichever is cheaper. Between layers an operation on single values needs the sum,
// so X is never P.
#pragma once

#include "common/tools/predict/pricing.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

/// How a tensor lies on an axis of a mesh of ranks (SBP of OneFlow): split along a dimension (0, 1, ...), broadcast
/// (all hold it), or partial (its sum over the axis is the tensor). Axes that split the same dimension nest: the first
/// one makes the outer blocks.
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
    /// Tensors have two dimensions.
    Transitions(Mesh mesh, Price price);

    /// In order; empty where nothing has to move. Throws UsageError where there is no way (to P).
    [[nodiscard]] std::vector<Move> between(Layout const& from, Layout const& to, double tensor_bytes) const;

private:
    /// A change of one axis; the bytes are those of a tensor of one byte.
    struct Step {
        std::size_t to = 0;  // number of the layout
        Move move;           // without volume: nothing is communicated
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

struct Layer {
    double inputs = 1;
    double outputs = 1;
};

struct LayoutProblem {
    std::vector<Layer> layers;  // 1 or more
    double tokens = 1;          // of all ranks, one step
    double element_bytes = 2;   // of activations and gradients
    Mesh mesh;
};

enum class Division : std::uint8_t { data, column, row };
[[nodiscard]] std::string_view name_of(Division division);

/// By axis of the mesh.
using LayerDivision = std::vector<Division>;
[[nodiscard]] std::string text_of(LayerDivision const& divisions);

/// A move and what it is for.
struct LayoutMove {
    std::size_t layer = 0;  // forward: the one that gives the tensor; backward, gradient: the one that makes it
    std::string tensor;     // "output", "input gradient", "weight gradient", "loss gradient"
    Move move;
};

struct LayoutChoice {
    std::vector<LayerDivision> divisions;  // by layer
    std::vector<LayoutMove> moves;         // of one step, in order
    double us = 0;
    std::uint64_t looked_at = 0;  // pairs of neighbouring divisions, and single ones, that were priced
};

/// The cost of one step if the layers are divided so. Axes of one rank may have any division.
[[nodiscard]] LayoutChoice price_of(LayoutProblem const& problem, std::vector<LayerDivision> const& divisions,
                                    Price const& price);

/// The cheapest choice; of equal ones the one with the fewest collectives. A layer costs something by its own division
/// and by that of the next one, so that the best of all choices is found layer by layer (Viterbi 1967). Throws
/// UsageError for no layers, for a mesh without an axis, and where each choice needs a collective without a price.
[[nodiscard]] LayoutChoice search_layouts(LayoutProblem const& problem, Price const& price);

}  // namespace dlmb::predict
