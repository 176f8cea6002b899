// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/plan/waves.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace dlmb {

std::vector<std::uint32_t> wave_of_steps(Plan const& plan) {
    std::vector<std::uint32_t> wave(plan.steps.size(), 0);
    for (std::size_t id = 0; id < plan.steps.size(); ++id) {
        for (StepId const earlier : plan.steps[id].after) {
            if (earlier >= id) {
                throw Error(fmt::format("rank {} step {} \"{}\" waits for step {}, which is not an earlier one",
                                        plan.me, id, plan.steps[id].label, earlier));
            }
            wave[id] = std::max(wave[id], wave[earlier] + 1);
        }
    }
    return wave;
}

std::vector<std::vector<StepId>> waves(Plan const& plan) {
    std::vector<std::uint32_t> const wave = wave_of_steps(plan);
    std::vector<std::vector<StepId>> steps;
    for (std::size_t id = 0; id < wave.size(); ++id) {
        if (wave[id] >= steps.size()) {
            steps.resize(wave[id] + std::size_t{1});
        }
        steps[wave[id]].push_back(static_cast<StepId>(id));
    }
    return steps;
}

}  // namespace dlmb
