// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The plans of this rank in a launch: what it sends is computed, what it receives is told by its peers, once.
#pragma once

#include "common/bootstrap/bootstrap.hpp"
#include "common/formats/record/record.hpp"
#include "patterns/pattern.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlmb::run {

struct Traffic {
    std::vector<Plan> plans;                   // of this rank, one per draw; the same buffers in all, sizes may differ
    TrafficSummary total;                      // over all ranks, mean over draws
    std::vector<record::PhaseTraffic> phases;  // mean over the draws that have the phase
    std::map<std::string, double> statistics;  // realised skew, mean over draws
    OsuProgram osu;
    std::string hash = {};  // of the plans of all ranks, where a file says them; else empty
};

/// left_out: the launch sets them from what it measures, so they are no part of the file's traffic.
enum class ComputeTimes : std::uint8_t { counted, left_out };

/// Collective. Traffic::hash of the plans that each rank passes, the same on all ranks.
[[nodiscard]] std::string hash_of(Bootstrap& bootstrap, std::span<Plan const> plans, ComputeTimes times);

/// Collective. Memory stays O(ranks). `each` is called again and again.
[[nodiscard]] Traffic prepare_traffic(
    Bootstrap& bootstrap, Pattern const& pattern, std::span<std::string_view const> phases, std::uint64_t seed,
    std::uint32_t draws, std::function<void()> const& each = [] {});

}  // namespace dlmb::run
