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

#include "common/tools/predict/sbp.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlmb::predict {

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
    std::uint64_t looked_at = 0;  // choices that were priced
};

/// The cost of one step if the layers are divided so. Axes of one rank may have any division.
[[nodiscard]] LayoutChoice price_of(LayoutProblem const& problem, std::vector<LayerDivision> const& divisions,
                                    Price const& price);

enum class SearchBy : std::uint8_t { automatic, exhaustion, descent };

/// The cheapest choice; of equal ones the one with the fewest collectives. exhaustion: all choices. descent: from
/// several starts, each two neighbouring layers anew until no pair helps, which need not find the best. automatic:
/// exhaustion up to 4 layers. Throws UsageError for no layers, a mesh without an axis, and for exhaustion of more than
/// 2^20 choices.
[[nodiscard]] LayoutChoice search_layouts(LayoutProblem const& problem, Price const& price,
                                          SearchBy by = SearchBy::automatic);

}  // namespace dlmb::predict
