// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of one iteration, from the rows of each layer. Labels: phase[.probs][.node|.rank][.backward][.layer].
#pragma once

#include "patterns/moe_alltoall/levels.hpp"

#include <span>
#include <vector>

namespace dlmb::moe_alltoall {

/// `layers[l]` are the levels of layer l. Each step waits for the one before it.
[[nodiscard]] Plan assemble(Params const& params, Rank me, std::span<std::vector<Level> const> layers);

}  // namespace dlmb::moe_alltoall
