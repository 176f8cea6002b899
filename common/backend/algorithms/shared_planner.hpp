// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a SharedPlan step by step.
#pragma once

#include "common/backend/algorithms/shared_plan.hpp"

namespace dlmb::algorithms {

class SharedPlanner {
public:
    /// `output_bytes`: that the operation writes here.
    SharedPlanner(int place, int places, Bytes output_bytes);

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
    int place_;
    int places_;
    bool past_caches_;  // copies to the output are
    SharedPlan plan_;
};

[[nodiscard]] constexpr SharedArea operator+(SharedArea area, Bytes bytes) {
    return {area.space, area.place, area.offset + bytes};
}

}  // namespace dlmb::algorithms
