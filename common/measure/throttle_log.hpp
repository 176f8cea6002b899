// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the clocks of any rank's GPU were held down while a cell was measured.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/memory/throttling.hpp"

namespace dlmb::measure {

class ThrottleLog {
public:
    /// `gpu` is that of this rank; nullptr: the cell uses none.
    explicit ThrottleLog(Throttling const* gpu) : gpu_(gpu) {}

    /// Outside the timed region, right behind samples: the GPU is still as they left it.
    void look();
    /// Collective. nullopt: no GPU was seen held down, and not all were asked.
    [[nodiscard]] std::optional<bool> over_ranks(Bootstrap& bootstrap) const;

private:
    Throttling const* gpu_;
    std::optional<bool> seen_;
};

}  // namespace dlmb::measure
