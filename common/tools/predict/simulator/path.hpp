// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The results of a simulation that is over: when tasks ended, phases, and the critical path.
#pragma once

#include "common/tools/predict/simulator/machine.hpp"
#include "common/tools/predict/simulator/program.hpp"
#include "common/tools/predict/simulator/simulation.hpp"

namespace dlmb::predict {

/// The cause that a task waited for last: the end (or start) of another task, a processor, a NIC or a message.
enum class Cause : std::uint8_t { dependency, cpu, nic, message };

[[nodiscard]] constexpr std::uint32_t caused(Cause cause, TaskId task) {
    return (static_cast<std::uint32_t>(cause) << 30U) | task;
}
[[nodiscard]] constexpr Cause cause_of(std::uint32_t caused) {
    return static_cast<Cause>(caused >> 30U);
}
[[nodiscard]] constexpr TaskId task_of(std::uint32_t caused) {
    return caused & (most_tasks - 1);
}

/// Local work only.
[[nodiscard]] inline Picoseconds duration(Task const& task, Machine const& machine) {
    constexpr std::int64_t half = 500;
    constexpr std::int64_t femtoseconds = 1000;
    auto const bytes = static_cast<std::int64_t>(task.amount);
    switch (task.kind) {
    case TaskKind::calc:
        return bytes;
    case TaskKind::call:
        return machine.call;
    case TaskKind::reduce:
        return (bytes * machine.reduce_per_byte + half) / femtoseconds;
    case TaskKind::copy:
        return (bytes * machine.copy_per_byte + half) / femtoseconds;
    default:
        return 0;
    }
}

/// Fills in all but `busy` and `events`. The program's tasks tell when they started and what they waited for.
void analyse(Simulation& simulation, Machine const& machine);

}  // namespace dlmb::predict
