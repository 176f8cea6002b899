// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which experts each token of a source goes to: drawn by weight, or balanced. Streams tokens to a visitor: nothing per
// token is kept.
#pragma once

#include "common/base/philox.hpp"
#include "common/sizes/weights.hpp"
#include "patterns/moe_alltoall/expert_placement.hpp"
#include "patterns/moe_alltoall/params.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace dlmb::moe_alltoall {

class Routing {
public:
    Routing(Params const& params, WorldShape const& world);

    /// Where the layer's experts are, and where they were before (the same where nothing moves). lpt and eplb go by the
    /// weights of the experts, summed over sources, the factor of intra_host and what moves with the draws left out:
    /// what a balancer knows of earlier iterations.
    [[nodiscard]] ExpertPlacement placement(std::uint64_t seed, std::uint32_t layer) const;
    [[nodiscard]] ExpertPlacement placement_before(std::uint64_t seed, std::uint32_t layer) const;

    /// Weights of all experts for a source in this draw, without the factor of intra_host.
    [[nodiscard]] std::vector<double> weights(Rank source, Draw draw, std::uint32_t layer) const;
    [[nodiscard]] SkewMotion const& motion() const { return motion_; }

    /// visit(expert numbers) for every token of `source`, in order.
    void for_each_token(Rank source, Draw draw, std::uint32_t layer,
                        std::function<void(std::span<std::size_t const>)> const& visit) const;

private:
    [[nodiscard]] std::vector<std::uint64_t> expected_loads(std::uint64_t seed, std::uint32_t layer) const;
    void favour_own_node(Rank source, ExpertPlacement const& placed, std::vector<double>& weights) const;

    Params params_;
    WorldShape world_;
    Weights weights_;  // of the skew that stays
    SkewMotion motion_;
    std::vector<std::uint64_t> file_loads_;  // of a skew file: by expert, over all sources
};

}  // namespace dlmb::moe_alltoall
