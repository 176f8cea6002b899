// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// How the ranks came and went over the samples of a cell. Each rank keeps its own times; what is the same for all is
// kept where the result is written.
#pragma once

#include "common/measure/result.hpp"
#include "common/measure/sampler.hpp"
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

}  // namespace dlmb::measure
