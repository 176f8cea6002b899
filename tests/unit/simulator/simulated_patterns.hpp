// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Patterns on the simulator.
#pragma once

#include "common/base/error.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/simulation.hpp"
#include "patterns/registry.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace dlmb::predict {

/// Parameters that cost less time and change no shape; one size where the default is a range of them.
inline Parameters quick_parameters(std::string_view pattern) {
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
inline std::optional<Simulation> simulated(PatternType const& type, Parameters const& parameters, int ranks,
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

inline Machine small_cluster() {
    Machine machine = uniform_machine({2'000'000, 300'000, 100'000, 40'000, 0});
    machine.ranks_per_node = 8;
    machine.level(Level::node).front().parameters = {500'000, 200'000, 0, 10'000, 0};
    machine.eager_limit = 8192;
    machine.reduce_per_byte = 50'000;
    machine.copy_per_byte = 20'000;
    machine.call = 100'000;
    return machine;
}

inline void expect_sound(Simulation const& simulation) {
    EXPECT_EQ(simulation.split.total(), simulation.time);
    if (!simulation.path.empty()) {
        EXPECT_EQ(simulation.path.front().begin, 0);
        EXPECT_EQ(simulation.path.back().end, simulation.time);
    }
    for (std::size_t piece = 1; piece < simulation.path.size(); ++piece) {
        ASSERT_EQ(simulation.path[piece].begin, simulation.path[piece - 1].end) << piece;
    }
}

}  // namespace dlmb::predict
