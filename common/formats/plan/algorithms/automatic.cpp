// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The choice of an algorithm by operation and size. The limits are those of UCC's transport layer for UCP (reductions,
// broadcast) and of MPICH (allgather: MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE). Nothing here was measured on a machine: what
// is faster on one is found by dlmb_tune. A tree moves a part of a gather or scatter once per round: for large ones
// each part goes its own way.
#include "common/formats/plan/algorithms/algorithms.hpp"

#include <algorithm>

namespace dlmb::algorithms {
namespace {

constexpr Bytes small_reduction = Bytes{4} << 10;
constexpr Bytes small_gather = Bytes{80} << 10;
constexpr Bytes small_broadcast = Bytes{32} << 10;

/// Whether a chain is done after fewer times of one segment than a tree. The chain needs one time per segment and one
/// more per place on the way; the tree needs radix - 1 per segment in each of its rounds.
bool chain_is_shorter(Shape const& shape) {
    auto const places = static_cast<Bytes>(shape.places);
    Bytes const sends = std::min<Bytes>(default_radix, places) - 1;
    Bytes const segments = (shape.bytes + default_segment - 1) / default_segment;
    Bytes rounds = 0;
    for (int reached = 1; reached < shape.places; reached *= default_radix) {
        ++rounds;
    }
    return segments + places < segments * rounds * sends + 2;
}

}  // namespace

Algorithm choose(Shape const& shape) {
    switch (shape.kind) {
    case OperationKind::all_reduce:
        return shape.bytes < small_reduction ? recursive_doubling : knomial;
    case OperationKind::reduce_scatter:
        return shape.bytes < small_reduction ? knomial : ring;
    case OperationKind::all_gather:
        return shape.bytes < small_gather ? knomial : ring;
    case OperationKind::gather:
    case OperationKind::scatter:
        return shape.bytes < small_gather ? knomial_tree : direct_parts;
    case OperationKind::barrier:
        return dissemination;
    default:
        return shape.bytes < small_broadcast || !chain_is_shorter(shape) ? knomial_tree : chain;
    }
}

MicroPlan automatic(Shape const& shape, Knobs const& knobs) {
    return choose(shape)(shape, knobs);
}

}  // namespace dlmb::algorithms
