// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
// The choice of an algorithm by operation, size and wire. Start values after UCC's transport layer for UCP, but for
// gathering on few places, where the ring was slower at every size on shared memory; a measured table is to replace
// them. Those for sockets: tests/benchmarks/ucx_vs_mpi over tcp, 2 to 8 ranks; beyond, they are assumed.
#include "common/backend_kit/algorithms/algorithms.hpp"

#include <algorithm>

namespace dlmb::algorithms {
namespace {

constexpr Bytes small_reduction = Bytes{4} << 10;
constexpr Bytes small_gather = Bytes{4} << 10;
constexpr Bytes small_broadcast = Bytes{32} << 10;
constexpr Bytes small_reduction_by_sockets = Bytes{64} << 10;
constexpr int few_places = 32;
constexpr Bytes least_broadcast_by_sockets = 1 << 10;  // below, a message costs its system calls

/// Whether a chain is done after fewer times of one segment than a tree: it needs one per segment and one more per
/// place on the way, the tree in each of its rounds radix - 1 per segment.
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

/// A place is busy while it sends through a socket. Among three, a chain has one round more than the tree, and its root
/// sends once, which wins while a message costs its system calls and where a link carries the root's data twice. In
/// between, and where all are on one node, what the one in the middle copies twice costs more if it shares a core.
/// Among more, parts keep all places busy.
Algorithm broadcast_by_sockets(Shape const& shape) {
    bool const large = shape.bytes >= rendezvous_by_sockets;
    if (shape.places == 3) {
        bool const by_links = large && shape.wire == Wire::sockets;
        return by_links || shape.bytes < least_broadcast_by_sockets ? chain : knomial_tree;
    }
    return large && shape.places > 2 ? scatter_allgather : knomial_tree;
}

}  // namespace

Algorithm choose(Shape const& shape) {
    bool const sockets = shape.wire != Wire::native;
    switch (shape.kind) {
    case OperationKind::all_reduce:
        return shape.bytes < (sockets ? small_reduction_by_sockets : small_reduction) ? recursive_doubling : knomial;
    case OperationKind::reduce_scatter:
        return shape.bytes < small_reduction || (sockets && shape.places <= few_places) ? knomial : ring;
    case OperationKind::all_gather:
        if (shape.places <= few_places) {
            return knomial;
        }
        return shape.bytes < small_gather ? bruck_all_gather : ring;
    default:
        if (sockets && shape.places <= few_places) {
            return broadcast_by_sockets(shape);
        }
        return shape.bytes < small_broadcast || !chain_is_shorter(shape) ? knomial_tree : chain;
    }
}

MicroPlan automatic(Shape const& shape, Knobs const& knobs) {
    return choose(shape)(shape, knobs);
}

}  // namespace dlmb::algorithms
