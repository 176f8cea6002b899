// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// A simulation as text for people and as JSON.
#pragma once

#include "common/tools/predict/simulator/simulation.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace dlmb::predict::commands {

inline constexpr double picoseconds_per_us = 1e6;

using SimulationJson = nlohmann::ordered_json;

/// One object. All times are whole picoseconds. `context`: the simulated traffic, such as "pattern", "preset" and
/// "ranks", and their values. `most_pieces`: so many of the critical path, the longest ones.
[[nodiscard]] SimulationJson to_json(Simulation const& simulation, SimulationJson const& context,
                                     std::size_t most_pieces);

/// What to_json() made, for people.
[[nodiscard]] std::string to_text(SimulationJson const& simulation, std::string const& title);

}  // namespace dlmb::predict::commands
