// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The resolution of this launch, before anything is measured: clock, quiet of the processors, barrier, transports and
// devices. Plain values, which record/ writes, and the measurements that find them. These are collective; results are
// equal on all ranks where nothing else is said.
#pragma once

#include "common/backend_kit/backend.hpp"
#include "common/formats/record/calibration.hpp"
#include "common/measure/runner.hpp"

#include <optional>
#include <span>
#include <vector>

namespace dlmb::measure {

/// How long each part may take.
struct CalibrationTimes {
    Nanoseconds quanta_ns = 0;
    Nanoseconds barriers_ns = 0;
    Nanoseconds exchange_ns = 0;  // per backend
    std::size_t link_nodes = 0;   // links are tried in launches of at most so many nodes
};
/// On one link; links of a turn are tried at once, and there are as many turns as nodes. Half of it for words, half for
/// blocks, but four round trips of words and two of blocks at least.
inline constexpr Nanoseconds link_turn_ns = 1'000'000;
/// `patience_ns`: what a cell may take, or how long nobody may stand still if that is less. A launch that is to be
/// short is not made long by this: brief takes at most a hundredth of it.
[[nodiscard]] CalibrationTimes calibration_times(record::Effort effort, Nanoseconds patience_ns);

[[nodiscard]] record::TimerFloor calibrate_timer(Bootstrap& bootstrap);
[[nodiscard]] record::WorkQuanta calibrate_quanta(Bootstrap& bootstrap, Nanoseconds limit_ns);
[[nodiscard]] record::BarrierFloor calibrate_barrier(Bootstrap& bootstrap, Nanoseconds limit_ns);
/// nullopt with fewer than three nodes, where there is nothing to compare, and with more than `most_nodes`: every link
/// takes its turn, in as many turns as there are nodes.
[[nodiscard]] std::optional<record::LinkFloor> calibrate_links(Bootstrap& bootstrap, std::size_t most_nodes,
                                                               Watchdog& watchdog);
/// `ns`: of node i and node j > i at [i * leaders.size() + j]. `leaders`: the first rank of each node.
[[nodiscard]] record::LinkFloor::Times link_times(std::span<Rank const> leaders, std::span<Nanoseconds const> ns,
                                                  double slow_ratio);
/// The times of an exchange over each of the `backends` that can do it in `memory`, on rank 0 only; empty with one
/// rank. Opens the connections of neighbours, which the first cell then finds open.
[[nodiscard]] std::vector<record::ExchangeFloor> calibrate_exchange(Bootstrap& bootstrap, MemorySpace& memory,
                                                                    std::span<Backend* const> backends,
                                                                    Nanoseconds limit_ns, Watchdog& watchdog);
/// Throws Error where this rank has no device.
[[nodiscard]] record::DeviceFloor calibrate_device(Bootstrap& bootstrap);

}  // namespace dlmb::measure
