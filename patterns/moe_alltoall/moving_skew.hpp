// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Popularity of experts that differs between draws, on top of a skew that stays: rotating, burst, zero_expert and drift
// (README.md has the definitions). A draw's state is a pure function of (seed, index, layer): any rank computes any
// draw, in any order.
#pragma once

#include "common/base/philox.hpp"
#include "common/sizes/skew.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dlmb::moe_alltoall {

struct MovingSkew {
    std::uint32_t period = 0;              // rotating: draws until the next shift; 0: none
    double burst_rate = 0;                 // probability that a burst begins with a draw
    std::uint32_t burst_length = 0;        // in draws; 0: none
    std::optional<std::size_t> zero_rank;  // of each group
    double half_life = 0;                  // drift: in draws; 0: none
    bool operator==(MovingSkew const&) const = default;

    [[nodiscard]] bool any() const { return period > 0 || burst_length > 0 || zero_rank || half_life > 0; }
};

/// The two parts of --skew.
struct RoutingSkew {
    Skew still;
    MovingSkew moving;
};

/// Reads what parse_skew does, followed by "+rotating:PERIOD", "+burst:RATE:LENGTH", "+zero_expert:R" and
/// "+drift:HALF_LIFE", each once and in any order. Without a family before them it is the default one. Throws
/// UsageError.
[[nodiscard]] RoutingSkew parse_routing_skew(std::string_view text);

/// Weight of a zero_expert: so small that it is never chosen while another one is left. The scores of TopkSampling,
/// -ln(u) / weight with 2^-33 <= -ln(u) < 2^5, are then above those of all weights down to 2^-40, even after intra_host
/// has multiplied by 2^20.
inline constexpr double zero_weight = 0x1p-100;

class SkewMotion {
public:
    /// owner_of: by expert, the rank that zero_expert means; ascending.
    SkewMotion(MovingSkew const& moving, std::vector<std::size_t> owner_of);

    /// Places by which the weights have moved on: expert e has what expert e - shift had.
    [[nodiscard]] std::size_t shift(std::uint32_t index) const;
    /// The hot expert of the burst that began last and has not ended.
    [[nodiscard]] std::optional<std::size_t> burst_expert(Draw draw, std::uint32_t layer) const;
    /// Turns the weights that stay (the largest is 1, none is below 2^-40) into those of the draw.
    void apply(std::vector<double>& weights, Draw draw, std::uint32_t layer) const;

private:
    void drift(std::vector<double>& weights, Draw draw, std::uint32_t layer) const;

    MovingSkew moving_;
    std::size_t experts_;
    std::size_t zero_begin_ = 0;  // experts of the zero rank
    std::size_t zero_end_ = 0;
};

}  // namespace dlmb::moe_alltoall
