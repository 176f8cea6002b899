// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a SharedPlan step by step.
#pragma once

#include "common/backend_kit/algorithms/shared_plan.hpp"

#include <limits>

namespace dlmb::algorithms {

/// From how many bytes on a copy to a window may go past the caches. The window's lines lie in the caches of those who
/// read it last, and to take each of them back costs up to 10 times what a streaming store costs; who reads then pays
/// for memory instead of a cache. Which is less depends on the machine. docs/performance.md.
inline constexpr Bytes least_streamed = Bytes{16} << 10;
inline constexpr Bytes never_streamed = std::numeric_limits<Bytes>::max();
/// Larger than a core's share of the caches.
inline constexpr Bytes more_than_caches_hold = Bytes{4} << 20;

class SharedPlanner {
public:
    /// `output_bytes`: that the operation writes here.
    SharedPlanner(int place, int places, Bytes output_bytes, Bytes streamed_from = never_streamed);

    void await(int place, std::uint32_t stage, std::uint32_t back = 0);
    /// All other places, the next one first.
    void await_all(std::uint32_t stage, std::uint32_t back = 0);
    void publish(std::uint32_t stage);
    void copy(SharedArea to, SharedArea from, Bytes bytes);
    /// to = operands[0] (reduction) operands[1] ..., in pieces that stay in the first cache. `to` may be an operand.
    void reduce(SharedArea to, std::vector<SharedArea> const& operands, Bytes bytes);

    /// Fresh memory of this place's window, on a cache line of its own.
    [[nodiscard]] SharedArea window(Bytes bytes);
    void offer(int place, SharedOffer offer, Bytes expected);
    /// Every place sees the whole window and has the same idea of the operation's size.
    void offer_all(Bytes operation_bytes);

    [[nodiscard]] SharedPlan finish(std::uint32_t stages, int windows) &&;

private:
    [[nodiscard]] bool goes_past_caches(SharedSpace to, Bytes bytes) const;

    int place_;
    int places_;
    bool past_caches_;  // copies to the output are
    Bytes streamed_from_;
    SharedPlan plan_;
};

[[nodiscard]] constexpr SharedArea operator+(SharedArea area, Bytes bytes) {
    return {area.space, area.place, area.offset + bytes};
}

}  // namespace dlmb::algorithms
