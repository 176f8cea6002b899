// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// What is noted about ranks and their GPUs over the samples of a cell. Each rank keeps its own times; what is the same
// for all is kept where the result is written.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/measure/cell_result.hpp"
#include "common/measure/sampling/sampler.hpp"
#include "common/memory/throttling.hpp"
#include "common/plan/plan.hpp"

#include <span>
#include <vector>

namespace dlmb::measure {

class RankLog {
public:
    void keep(Chunk const& chunk);
    /// Collective. `result` is filled in on the deciding rank; its headline is in place there. `draws`: this rank's
    /// plans. `launch_blocks`: of this rank's.
    void summarize(Bootstrap& bootstrap, std::span<Plan const> draws, bool launch_blocks, CellResult& result) const;

private:
    std::vector<Nanoseconds> enter_;  // after the first rank's
    std::vector<Nanoseconds> posted_;
    std::vector<Nanoseconds> waited_;
    std::vector<Nanoseconds> done_;
    std::vector<Nanoseconds> skew_;
    std::vector<Nanoseconds> last_arrival_;
    std::vector<double> imbalance_time_;
};

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
