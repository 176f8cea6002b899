// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The groups of ranks that work together, in Megatron's rank order: tensor, context, data, pipeline, fastest first.
#pragma once

#include "patterns/pipeline_p2p/params.hpp"

#include <set>

namespace dlmb::pipeline_p2p {

/// One rank of every stage: a rank's place in it is its place in the chain.
[[nodiscard]] Group chain_of(Params const& params, WorldShape const& world, Rank me);

/// The members of `me`'s chain at these places.
[[nodiscard]] Group places_in_chain(Params const& params, WorldShape const& world, Rank me,
                                    std::set<int> const& places);

/// All ranks, data and context parallel ones too, that hold the same part of a stage at one of these places.
[[nodiscard]] Group replicas(Params const& params, Rank me, std::set<int> const& places);

}  // namespace dlmb::pipeline_p2p
