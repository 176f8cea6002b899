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

/// The simulated traffic: "program", "preset", "ranks" ... and their values.
using SimulationContext = nlohmann::ordered_json;

/// One object. All times are whole picoseconds. `most_pieces`: so many of the critical path, the longest ones.
[[nodiscard]] nlohmann::ordered_json to_json(Simulation const& simulation, SimulationContext const& context,
                                             std::size_t most_pieces);

[[nodiscard]] std::string to_text(Simulation const& simulation, std::string const& title, std::size_t most_pieces);

}  // namespace dlmb::predict::commands
