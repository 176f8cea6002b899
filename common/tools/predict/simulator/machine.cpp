// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/machine.hpp"

#include "common/base/error.hpp"

#include <fmt/core.h>

namespace dlmb::predict {
namespace {

constexpr Picoseconds longest_parameter = Picoseconds{1} << 50;     // 18 minutes
constexpr FemtosecondsPerByte slowest_byte = Picoseconds{1} << 40;  // 1 ms

bool same_domain(Rank from, Rank to, int ranks) {
    auto const size = static_cast<unsigned>(ranks);
    return ranks > 0 && static_cast<unsigned>(from) / size == static_cast<unsigned>(to) / size;
}

void check_range(std::string_view what, std::int64_t value, std::int64_t most) {
    if (value < 0 || value > most) {
        throw UsageError(fmt::format("machine: {} is {}; it must be from 0 to {}", what, value, most));
    }
}

}  // namespace

Level Machine::level_of(Rank from, Rank to) const {
    if (from == to) {
        return Level::self;
    }
    if (ranks_per_node > 0 && same_domain(from, to, ranks_per_node)) {
        return same_domain(from, to, ranks_per_numa)     ? Level::numa
               : same_domain(from, to, ranks_per_socket) ? Level::socket
                                                         : Level::node;
    }
    return same_domain(from, to, ranks_per_group) ? Level::group : Level::system;
}

LogGopsParameters const& Machine::parameters(Rank from, Rank to, Bytes bytes) const {
    std::vector<SizeSegment> const& segments = levels[static_cast<std::size_t>(level_of(from, to))];
    std::size_t segment = 0;
    while (segment + 1 < segments.size() && bytes > segments[segment].up_to) {
        ++segment;
    }
    return segments[segment].parameters;
}

Machine uniform_machine(LogGopsParameters const& parameters) {
    Machine machine;
    machine.levels.fill({{.parameters = parameters}});
    return machine;
}

Machine with_buffers(Machine machine, Bytes buffer_bytes) {
    if (buffer_bytes >= machine.cached_bytes) {
        FemtosecondsPerByte const more = 2 * machine.memory_per_byte;
        machine.copy_per_byte += more;
        for (std::size_t level = 0; level <= static_cast<std::size_t>(Level::node); ++level) {
            for (SizeSegment& segment : machine.levels[level]) {
                segment.parameters.overhead_per_byte += more;
            }
        }
    }
    return machine;
}

void check(Machine const& machine) {
    for (std::size_t level = 0; level < machine.levels.size(); ++level) {
        if (machine.levels[level].empty()) {
            throw UsageError(fmt::format("machine: level {} has no parameters", level_names[level]));
        }
        for (SizeSegment const& segment : machine.levels[level]) {
            auto const name = [&](char const* what) { return fmt::format("{} of level {}", what, level_names[level]); };
            check_range(name("latency (ps)"), segment.parameters.latency, longest_parameter);
            check_range(name("overhead (ps)"), segment.parameters.overhead, longest_parameter);
            check_range(name("gap (ps)"), segment.parameters.gap, longest_parameter);
            check_range(name("time per byte (fs)"), segment.parameters.gap_per_byte, slowest_byte);
            check_range(name("overhead per byte (fs)"), segment.parameters.overhead_per_byte, slowest_byte);
        }
    }
    check_range("time to reduce a byte (fs)", machine.reduce_per_byte, slowest_byte);
    check_range("time to copy a byte (fs)", machine.copy_per_byte, slowest_byte);
    check_range("time of a byte in memory (fs)", machine.memory_per_byte, slowest_byte);
    check_range("time of a call (ps)", machine.call, longest_parameter);
    check_range("processors of a node", machine.processors_per_node, longest_parameter);
    int inner = 1;
    for (int const ranks :
         {machine.ranks_per_numa, machine.ranks_per_socket, machine.ranks_per_node, machine.ranks_per_group}) {
        if (ranks != 0 && (ranks < 0 || ranks % inner != 0)) {
            throw UsageError(fmt::format("machine: a domain of {} ranks cannot hold domains of {}", ranks, inner));
        }
        inner = ranks == 0 ? inner : ranks;
    }
}

}  // namespace dlmb::predict
