// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A Compute step on the host, in pieces, so that whoever runs it can serve the transport in between.
#pragma once

#include "common/base/clock.hpp"
#include "common/plan/plan.hpp"

#include <vector>

namespace dlmb {

class HostCompute {
public:
    explicit HostCompute(Compute const& step);

    void start() { end_ns_ = now_ns() + busy_ns_; }
    /// Does a piece of work (a matrix product of `tile_edge`^3 multiplications, whatever the step's shape, or nothing);
    /// true: the time is over.
    [[nodiscard]] bool test();

private:
    static constexpr std::size_t tile_edge = 48;  // a few microseconds

    Nanoseconds busy_ns_;
    Nanoseconds end_ns_ = 0;
    std::vector<float> tiles_;  // two factors and the sum of products; empty: only the clock is watched
};

}  // namespace dlmb
