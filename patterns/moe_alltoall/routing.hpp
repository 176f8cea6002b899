// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which experts each token of a source goes to. Streams tokens to a visitor: nothing per token is kept.
#pragma once

#include "common/plan/world.hpp"
#include "common/sizes/weights.hpp"
#include "patterns/moe_alltoall/balanced_routing.hpp"
#include "patterns/moe_alltoall/params.hpp"
#include "patterns/moe_alltoall/topk_sampling.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace dlmb::moe_alltoall {

class Routing {
public:
    Routing(Params const& params, WorldShape const& world);

    /// visit(span of expert numbers) for every token of `source`, in order.
    template <class Visit>
    void for_each_token(Rank source, Draw draw, std::uint32_t layer, Visit&& visit) const {
        RoutingKey const key{draw.seed, draw.index, static_cast<std::uint32_t>(source), layer};
        if (params_.skew.family == Skew::Family::balanced) {
            pull(BalancedRouting(params_, key), visit);
        } else {
            pull(TopkSampling(params_, weights_of(source, draw.seed, layer), key), visit);
        }
    }

    [[nodiscard]] std::vector<double> weights_of(Rank source, std::uint64_t seed, std::uint32_t layer) const;

private:
    template <class Source, class Visit>
    void pull(Source tokens, Visit& visit) const {
        for (std::uint64_t token = 0; token < params_.tokens; ++token) {
            visit(tokens.next());
        }
    }

    Params params_;
    WorldShape world_;
    Weights weights_;
};

/// The group rank that owns each expert.
[[nodiscard]] std::vector<std::size_t> owners_of_experts(Params const& params);

}  // namespace dlmb::moe_alltoall
