// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The choice of an algorithm by operation and size. Start values after UCC's transport layer for UCP, but for gathering
// on few places, where the ring was slower at every size on shared memory; a measured table is to replace them.
#include "common/backend/algorithms/algorithms.hpp"

namespace dlmb::algorithms {
namespace {

constexpr Bytes small_reduction = Bytes{4} << 10;
constexpr Bytes small_gather = Bytes{4} << 10;
constexpr Bytes small_broadcast = Bytes{32} << 10;
constexpr int few_places = 32;

/// Whether a chain is done after fewer times of one segment than a tree: it needs one per segment and one more per
/// place on the way, the tree in each of its rounds radix - 1 per segment.
bool chain_is_shorter(Shape const& shape) {
    Bytes const segments = (shape.bytes + default_segment - 1) / default_segment;
    Bytes rounds = 0;
    for (int reached = 1; reached < shape.places; reached *= default_radix) {
        ++rounds;
    }
    return segments + static_cast<Bytes>(shape.places) < segments * rounds * (default_radix - 1) + 2;
}

}  // namespace

Algorithm choose(Shape const& shape) {
    switch (shape.kind) {
    case OperationKind::all_reduce:
        return shape.bytes < small_reduction ? recursive_doubling : knomial;
    case OperationKind::reduce_scatter:
        return shape.bytes < small_reduction ? knomial : ring;
    case OperationKind::all_gather:
        if (shape.places <= few_places) {
            return knomial;
        }
        return shape.bytes < small_gather ? bruck_all_gather : ring;
    default:
        return shape.bytes < small_broadcast || !chain_is_shorter(shape) ? knomial_tree : chain;
    }
}

MicroPlan automatic(Shape const& shape, Knobs const& knobs) {
    return choose(shape)(shape, knobs);
}

}  // namespace dlmb::algorithms
