// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a MicroPlan. Steps are added in an order in which one after the other would be right; what each waits for is
// found from the memory it touches. Empty steps are left out.
#pragma once

#include "common/backend_kit/algorithms/data_flow.hpp"
#include "common/backend_kit/algorithms/micro_plan.hpp"

namespace dlmb::algorithms {

class MicroPlanner {
public:
    void send(int peer, Area from, Bytes bytes);
    void receive(int peer, Area to, Bytes bytes);
    void copy(Area to, Area from, Bytes bytes);  // nothing when both are the same area
    void reduce(Area to, Area left, Area right, Bytes bytes);

    /// Fresh memory.
    [[nodiscard]] Area scratch(Bytes bytes);

    [[nodiscard]] MicroPlan finish() && { return std::move(plan_); }

private:
    void add(MicroStep step);

    MicroPlan plan_;
    DataFlow flow_;
};

/// `bytes` further on in the same space.
[[nodiscard]] constexpr Area operator+(Area area, Bytes bytes) {
    return {area.space, area.offset + bytes};
}

}  // namespace dlmb::algorithms
