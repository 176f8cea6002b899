// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The figures of a draw: a vector of counts per rank that may be summed over ranks, and what the sums mean.
#pragma once

#include "patterns/moe_alltoall/census.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// One source's counts. Expert and rank loads are those of the first layer: each layer has its own popular experts, and
/// a sum over layers would look more even than any of them.
[[nodiscard]] std::vector<std::uint64_t> tally(Params const& params, std::span<Census const> layers);

[[nodiscard]] std::vector<Statistic> realised(Params const& params, WorldShape const& world,
                                              std::span<std::uint64_t const> summed);

}  // namespace dlmb::moe_alltoall
