// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a program on a machine, event by event. Integer picoseconds. Ties are broken by the order in which events were
// found, what is ready at once before the others, so that the same program always gives the same times. Per rank there
// is a clock per processor (cpu) and a sending and a receiving clock per NIC (tx, rx). s: bytes of a message, but at
// least 1.
//
//   calc     start = max(ready, cpu); cpu = end = start + d
//   send     start = max(ready, cpu, tx); cpu = start + o + (s-1) O; tx = start + g + (s-1) G; the first byte is at the
//            peer at cpu + L. It ends at cpu where s is at most the eager limit, else when its receive ends.
//            A send that waits for the NIC leaves the processor to others; such sends start in the order they wait in.
//   arrival  begin = max(first byte, rx); rx = begin + g + (s-1) G; the last byte is there at begin + (s-1) G
//   recv     end = max(last byte, posted, cpu) + o; cpu = end
//
// With a network, (s-1) G of messages between nodes is the time of a flow instead, and tx and rx are busy for g only.
#pragma once

#include "common/tools/predict/network/link_network.hpp"
#include "common/tools/predict/simulator/machine.hpp"
#include "common/tools/predict/simulator/program.hpp"

#include <string>
#include <vector>

namespace dlmb::predict {

/// The parts of the time of a critical path, ps. The sum is the time of the path.
struct TimeSplit {
    Picoseconds compute = 0;     // calculations, calls, reductions, copies
    Picoseconds overhead = 0;    // o, O and g
    Picoseconds latency = 0;     // L, and that of links beyond the first
    Picoseconds bandwidth = 0;   // (s-1) G
    Picoseconds contention = 0;  // of links, and of the NIC that receives
    [[nodiscard]] Picoseconds total() const { return compute + overhead + latency + bandwidth + contention; }
    bool operator==(TimeSplit const&) const = default;
};

/// A part of the critical path, in the order of time: what `task` of `rank` did or, of a message, its way to `rank`.
struct PathPiece {
    enum class Kind : std::uint8_t { work, sending, in_flight, receiving, waiting_for_nic };
    Kind kind = Kind::work;
    Rank rank = 0;
    TaskId task = 0;
    Picoseconds begin = 0;
    Picoseconds end = 0;
};
[[nodiscard]] std::string_view name_of(PathPiece::Kind kind);

/// Steps whose labels have the same part before the first dot, over all ranks.
struct PhaseTime {
    std::string name;
    Picoseconds begin = 0;
    Picoseconds end = 0;
};

struct Simulation {
    Picoseconds time = 0;           // of the last rank
    std::vector<Picoseconds> ends;  // by rank
    std::vector<Picoseconds> busy;  // by rank: time of its processors
    std::vector<PhaseTime> phases;  // in the order of the labels
    std::vector<PathPiece> path;    // empty where nothing takes time
    TimeSplit split;                // of the path
    std::uint64_t messages = 0;
    std::uint64_t events = 0;
    Program program;  // as it ran: tells what the tasks of the path are
};

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

/// Whether a message shares links.
[[nodiscard]] inline bool is_flow(Machine const& machine, LinkNetwork const* network, Rank from, Rank to) {
    return network != nullptr && machine.level_of(from, to) == Level::system;
}

/// Fills in all but `busy` and `events`. The program's tasks tell when they started and what they waited for.
void analyse(Simulation& simulation, Machine const& machine, LinkNetwork const* network);

/// Times of the machine are from 0 to 10^15. Throws UsageError for times beyond 53 days, and for tasks that wait for
/// each other, naming rank and label.
[[nodiscard]] Simulation simulate(Program program, Machine const& machine, LinkNetwork* network = nullptr);

}  // namespace dlmb::predict
