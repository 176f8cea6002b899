// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// One plain operation of the whole world, 64 KiB of it.
#pragma once

#include "tests/mpi/rig.hpp"

namespace dlmb::mpi {

inline constexpr Bytes usual_bytes = 65536;

/// `shares`: the parts of the ranks are named, and the first is the larger one.
inline Plan one_operation(Rig const& rig, OperationKind kind, Bytes bytes = usual_bytes, bool shares = false) {
    PlanBuilder builder(rig.me());
    GroupId const all = builder.group(rig.world());
    Bytes const share = bytes * static_cast<Bytes>(rig.ranks());
    std::vector<Bytes> parts(static_cast<std::size_t>(rig.ranks()), bytes);
    parts.front() += 400;
    SharedBytes const whole = shares ? SharedBytes(parts) : SharedBytes(share);
    switch (kind) {
    case OperationKind::all_reduce:
        builder.all_reduce(all, bytes, Element::fp32, Reduction::sum, "sum");
        break;
    case OperationKind::reduce_scatter:
        builder.reduce_scatter(all, whole, Element::fp32, Reduction::sum, "scatter");
        break;
    case OperationKind::all_gather:
        builder.all_gather(all, whole, Element::fp32, "gather");
        break;
    case OperationKind::reduce:
        builder.reduce(all, rig.ranks() - 1, bytes, Element::fp32, Reduction::sum, "reduce");
        break;
    case OperationKind::gather:
        builder.gather(all, rig.ranks() - 1, whole, Element::fp32, "gather");
        break;
    case OperationKind::scatter:
        builder.scatter(all, rig.ranks() - 1, whole, Element::fp32, "scatter");
        break;
    case OperationKind::barrier:
        builder.barrier(all, "barrier");
        break;
    case OperationKind::broadcast:
        builder.broadcast(all, rig.ranks() - 1, bytes, Element::fp32, "news");
        break;
    default:
        add_exchange(
            builder, rig.world(), rig.me(), [bytes](Rank, Rank) { return bytes; }, "exchange");
    }
    return std::move(builder).finish();
}

}  // namespace dlmb::mpi
