// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Patterns on the simulator: pipelines take the time that theory gives them, and every preset runs to its end on 2 to
// 1,024 ranks. Above 64 ranks each number is a test of its own: 1,024 take two minutes and 4 GiB.
#include "common/base/error.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/simulation.hpp"
#include "patterns/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>

namespace dlmb::predict {
namespace {

/// Parameters that cost less time and change no shape; one size where the default is a range of them.
Parameters quick_parameters(std::string_view pattern) {
    if (pattern == "moe_alltoall") {
        return {{"tokens", "32"}};
    }
    if (pattern == "kv_transfer") {
        return {{"layers", "2"}, {"tokens", "64"}};
    }
    if (pattern == "sparse_allreduce") {
        return {{"density", "0.0001"}};
    }
    if (pattern == "dp_gradients") {
        return {{"model", "transformer:layers=2:hidden=64:vocabulary=1000"}};  // the scheme stays
    }
    if (pattern == "tp_allreduce") {
        return {{"layers", "2"}};  // the second waits for the first; 1,024 ranks send 10^7 messages in each
    }
    return pattern == "collective" ? Parameters{{"message-size", "4096"}} : Parameters{};
}

/// Nothing where the pattern refuses so many ranks. A message that is left over, or tasks that wait for each other, are
/// an error of simulate().
std::optional<Simulation> simulated(PatternType const& type, Parameters const& parameters, int ranks,
                                    Machine const& machine) {
    WorldShape const world{ranks, std::min(ranks, 8)};
    std::unique_ptr<Pattern> pattern;
    try {
        pattern = type.make(parameters, world);
    } catch (UsageError const&) {  // tests/unit/patterns knows which ones may
        return std::nullopt;
    }
    LoweringChoice whole;
    whole.knobs.segment = Bytes{1} << 30;  // a ring in pieces has the same messages many times
    return simulate(lower(plans_of(*pattern, world, {}), whole), machine);
}

Machine small_cluster() {
    Machine machine = uniform_machine({2'000'000, 300'000, 100'000, 40'000, 0});
    machine.ranks_per_node = 8;
    machine.level(Level::node).front().parameters = {500'000, 200'000, 0, 10'000, 0};
    machine.eager_limit = 8192;
    machine.reduce_per_byte = 50'000;
    machine.copy_per_byte = 20'000;
    machine.call = 100'000;
    return machine;
}

void expect_sound(Simulation const& simulation) {
    EXPECT_EQ(simulation.split.total(), simulation.time);
    if (!simulation.path.empty()) {
        EXPECT_EQ(simulation.path.front().begin, 0);
        EXPECT_EQ(simulation.path.back().end, simulation.time);
    }
    for (std::size_t piece = 1; piece < simulation.path.size(); ++piece) {
        ASSERT_EQ(simulation.path[piece].begin, simulation.path[piece - 1].end) << piece;
    }
}

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

class PatternsAtScale : public testing::TestWithParam<int> {};

TEST_P(PatternsAtScale, EveryPresetRunsToItsEnd) {
    int const ranks = GetParam();
    int total = 0;
    for (PatternType const* type : pattern_types()) {
        int run = 0;
        std::set<Parameters> seen;  // presets of several models are one where quick_parameters() says the model
        std::vector<std::string> presets{""};
        for (Preset const& preset : presets_of(*type)) {
            presets.push_back(preset.name);
        }
        for (std::string const& preset : presets) {
            SCOPED_TRACE(std::string(type->name) + ' ' + preset);
            Parameters const parameters = resolve(*type, preset, quick_parameters(type->name));
            if (!seen.insert(parameters).second) {
                continue;
            }
            if (auto const simulation = simulated(*type, parameters, ranks, small_cluster())) {
                expect_sound(*simulation);
                EXPECT_GT(simulation->time, 0);
                ++run;
            }
        }
        total += run;
        // Of 3 ranks there is none that divides a sequence of 2^n tokens.
        EXPECT_TRUE(run > 0 || !std::has_single_bit(static_cast<unsigned>(ranks))) << "no preset of " << type->name;
    }
    EXPECT_GT(total, 4);
}

INSTANTIATE_TEST_SUITE_P(On, PatternsAtScale, testing::Values(2, 3, 4, 8, 64, 256, 1024),
                         [](auto const& each) { return std::to_string(each.param); });

}  // namespace
}  // namespace dlmb::predict
