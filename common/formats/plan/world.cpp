// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/world.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb {

Group consecutive_group(WorldShape const& world, Rank rank, int size) {
    return strided_group(world, rank, size, 1);
}

Group strided_group(WorldShape const& world, Rank rank, int size, int stride) {
    if (size <= 0 || stride <= 0 || world.ranks / size < stride || world.ranks % (size * stride) != 0) {
        throw UsageError(stride == 1
                             ? fmt::format("{} ranks cannot be cut into groups of {}", world.ranks, size)
                             : fmt::format("{} ranks cannot be cut into {} x {} ranks", world.ranks, size, stride));
    }
    Rank const block = rank / (size * stride) * (size * stride);
    Group group;
    group.members.reserve(static_cast<std::size_t>(size));
    for (int place = 0; place < size; ++place) {
        group.members.push_back(block + place * stride + rank % stride);
    }
    return group;
}

}  // namespace dlmb
