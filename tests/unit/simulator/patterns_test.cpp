// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Pipelines take the time that theory gives them.
#include "tests/unit/simulator/simulated_patterns.hpp"

#include <algorithm>

namespace dlmb::predict {
namespace {

PatternType const& pipeline() {
    auto const types = pattern_types();
    return **std::find_if(types.begin(), types.end(),
                          [](PatternType const* type) { return type->name == "pipeline_p2p"; });
}

/// F = 300 us and B = 500 us.
Picoseconds makespan(Parameters parameters, int ranks, Machine const& machine) {
    parameters.insert(
        {{"compute", "busy"}, {"sequence", "8"}, {"hidden", "16"}, {"forward-us", "300"}, {"backward-us", "500"}});
    WorldShape const world{ranks, ranks};
    auto const pattern = pipeline().make(resolve(pipeline(), "", parameters), world);
    Simulation const simulation = simulate(lower(plans_of(*pattern, world, {}), {}), machine);
    expect_sound(simulation);
    return simulation.time;
}

constexpr Picoseconds us = 1'000'000;

// Narayanan et al. 2021; Li, Hoefler 2021 (Chimera): with messages that take no time, GPipe and 1F1B take (N + D - 1)
// (F + B); Chimera, N = D, takes D F + (2 D - 2) B.
TEST(SimulatedPatterns, PipelinesTakeTheTimeThatTheoryGivesThem) {
    Machine const free = uniform_machine({});
    for (int const depth : {2, 4, 8}) {
        for (int const microbatches : {depth, 2 * depth, 8 * depth}) {
            for (char const* schedule : {"gpipe", "1f1b"}) {
                EXPECT_EQ(
                    makespan({{"schedule", schedule}, {"microbatches", std::to_string(microbatches)}}, depth, free),
                    (microbatches + depth - 1) * 800 * us)
                    << schedule << ' ' << depth << ' ' << microbatches;
            }
        }
        EXPECT_EQ(makespan({{"schedule", "chimera"}, {"microbatches", std::to_string(depth)}}, depth, free),
                  (depth * 300 + (2 * depth - 2) * 500) * us)
            << depth;
    }
}

// The way of a message adds L to each boundary of the first forward and of the last backward pass.
TEST(SimulatedPatterns, LatencyDelaysAPipelineOncePerBoundaryAndDirection) {
    Machine const slow = uniform_machine({7 * us, 0, 0, 0, 0});
    EXPECT_EQ(makespan({{"schedule", "gpipe"}, {"mode", "separate"}, {"microbatches", "8"}}, 4, slow),
              (8 + 3) * 800 * us + 2 * 3 * 7 * us);
}

}  // namespace
}  // namespace dlmb::predict
