// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/algorithms/shared_algorithms.hpp"
#include "common/backend_kit/algorithms/shared_phases.hpp"

namespace dlmb::algorithms {
namespace {

/// Up to so many bytes that one place reads in all, one stage less is worth more than reducing every part once.
constexpr Bytes reduced_by_all = Bytes{32} << 10;

}  // namespace

SharedPlan shared_memory(Shape const& shape, Bytes segment) {
    Bytes const chosen = segment == 0 ? default_shared_segment(shape.bytes) : segment;
    switch (shape.kind) {
    case OperationKind::all_reduce:
        return shape.bytes * static_cast<Bytes>(shape.places) <= reduced_by_all ? shared_all_reduce_at_once(shape)
                                                                                : shared_all_reduce(shape, chosen);
    case OperationKind::reduce_scatter:
        return shared_reduce_scatter(shape, chosen);
    case OperationKind::all_gather:
        return shared_all_gather(shape, chosen);
    default:
        return shared_broadcast(shape, chosen);
    }
}

}  // namespace dlmb::algorithms
