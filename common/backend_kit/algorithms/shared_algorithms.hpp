// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives among places that share memory: every place copies what others need into its window, in segments that
// stay in a cache, and takes what it needs from theirs (Graham, Shipman: MPI Support for Multi-core Architectures,
// 2008). Any number of places from 2, any size from 1 B, in place or not. Every element is reduced by one place or
// alike by all, operands by place: the result is the same to the bit everywhere.
#pragma once

#include "common/backend_kit/algorithms/shape.hpp"
#include "common/backend_kit/algorithms/shared_plan.hpp"

#include <algorithm>
#include <span>

namespace dlmb::algorithms {

/// all_reduce, reduce_scatter, all_gather, broadcast. `segment`: bytes of the whole operation that are in a window at
/// one time; 0: default_shared_segment().
[[nodiscard]] SharedPlan shared_memory(Shape const& shape, Bytes segment);

/// One block of an exchange between this place and another; offsets are those of the input or output.
struct SharedBlock {
    int place = 0;
    Bytes offset = 0;
    Bytes bytes = 0;
};

/// exchange of the given blocks, none of them empty, the one to itself among them; at least one is another's. Both ends
/// of a block must give it. `segment`: of a block; 0: half of it, within bounds.
[[nodiscard]] SharedPlan shared_exchange(int place, int places, std::span<SharedBlock const> sent,
                                         std::span<SharedBlock const> received, Bytes segment);

/// So much of an operation of `bytes` is in a window at one time, unless chosen otherwise: what a cache holds, and more
/// of a large one, because each segment costs a wait.
[[nodiscard]] constexpr Bytes default_shared_segment(Bytes bytes) {
    constexpr Bytes least = Bytes{256} << 10;
    constexpr Bytes most = Bytes{2} << 20;
    return std::clamp(bytes / 8, least, most);
}

}  // namespace dlmb::algorithms
