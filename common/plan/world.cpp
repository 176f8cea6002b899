// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/world.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <numeric>

namespace dlmb {

Group consecutive_group(WorldShape const& world, Rank rank, int size) {
    if (size <= 0 || world.ranks % size != 0) {
        throw UsageError(fmt::format("{} ranks cannot be cut into groups of {}", world.ranks, size));
    }
    Group group;
    group.members.resize(static_cast<std::size_t>(size));
    std::iota(group.members.begin(), group.members.end(), rank / size * size);
    return group;
}

}  // namespace dlmb
