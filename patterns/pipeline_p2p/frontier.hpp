// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The steps that must be complete before what comes next: the ends of all that has been waited for so far, without
// those that another of them waited for.
#pragma once

#include "common/plan/plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace dlmb::pipeline_p2p {

class Frontier {
public:
    [[nodiscard]] std::vector<StepId> const& steps() const { return steps_; }

    /// `step`, which waits for `after`, is waited for from now on.
    void wait_for(StepId step, std::vector<StepId> const& after) {
        auto const implied = [&](StepId known) {
            return known == step || std::find(after.begin(), after.end(), known) != after.end();
        };
        steps_.erase(std::remove_if(steps_.begin(), steps_.end(), implied), steps_.end());
        steps_.insert(std::lower_bound(steps_.begin(), steps_.end(), step), step);
    }

    /// `steps`, in ascending order, which all come after everything before.
    void move_to(std::vector<StepId> steps) { steps_ = std::move(steps); }

private:
    std::vector<StepId> steps_;
};

}  // namespace dlmb::pipeline_p2p
