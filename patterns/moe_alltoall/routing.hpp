// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Which experts each token of a source goes to: drawn by weight, or balanced. Streams tokens to a visitor: nothing per
// token is kept.
#pragma once

#include "common/base/philox.hpp"
#include "common/sizes/weights.hpp"
#include "patterns/moe_alltoall/params.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace dlmb::moe_alltoall {

class Routing {
public:
    Routing(Params const& params, WorldShape const& world);

    /// visit(expert numbers) for every token of `source`, in order.
    void for_each_token(Rank source, Draw draw, std::uint32_t layer,
                        std::function<void(std::span<std::size_t const>)> const& visit) const;

private:
    Params params_;
    WorldShape world_;
    std::vector<std::size_t> owner_of_expert_;  // ranks of the group
    Weights weights_;
};

}  // namespace dlmb::moe_alltoall
