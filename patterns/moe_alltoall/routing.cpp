// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/moe_alltoall/routing.hpp"

namespace dlmb::moe_alltoall {

std::vector<std::size_t> owners_of_experts(Params const& params) {
    std::vector<std::size_t> owners(params.experts);
    for (std::size_t rank = 0; rank < params.ep; ++rank) {
        for (std::size_t expert = params.first_expert(rank); expert < params.first_expert(rank + 1); ++expert) {
            owners[expert] = rank;
        }
    }
    return owners;
}

Routing::Routing(Params const& params, WorldShape const& world)
    : params_(params), world_(world), weights_(params.skew, Bins{owners_of_experts(params), params.tokens, params.top_k,
                                                                 static_cast<std::size_t>(world.ranks)}) {}

std::vector<double> Routing::weights_of(Rank source, std::uint64_t seed, std::uint32_t layer) const {
    std::vector<double> weights = weights_.of(static_cast<std::size_t>(source), seed, layer);
    auto const ep = static_cast<Rank>(params_.ep);
    Rank const first = source / ep * ep;
    for (Rank peer = 0; peer < ep; ++peer) {
        if (world_.node_of(first + peer) != world_.node_of(source)) {
            continue;
        }
        auto const owner = static_cast<std::size_t>(peer);
        for (std::size_t expert = params_.first_expert(owner); expert < params_.first_expert(owner + 1); ++expert) {
            weights[expert] *= params_.skew.intra_host;
        }
    }
    return weights;
}

}  // namespace dlmb::moe_alltoall
