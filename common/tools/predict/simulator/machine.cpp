// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/machine.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb::predict {
namespace {

constexpr double picoseconds_per_us = 1e6;
constexpr double femtoseconds_per_us = 1e9;
constexpr double beyond_all_machines = 1e15;  // ps or fs

/// Mean log2 of the distance between nodes, by how many nodes the receiver is ahead of the sender, modulo all. A mean,
/// so that all ranks cost alike.
std::vector<double> mean_octaves(int nodes) {
    std::vector<double> octaves(static_cast<std::size_t>(nodes));
    for (int ahead = 1; ahead < nodes; ++ahead) {
        int const back = nodes - ahead;
        octaves[static_cast<std::size_t>(ahead)] = (back * std::log2(ahead) + ahead * std::log2(back)) / nodes;
    }
    return octaves;
}

}  // namespace

Level Machine::level_of(Rank from, Rank to) const {
    int const each = std::max(1, ranks_per_node);
    return from / each == to / each ? Level::node : Level::system;
}

LogGopsParameters Machine::parameters(Rank from, Rank to, Bytes bytes) const {
    Level const level = level_of(from, to);
    std::vector<SizeSegment> const& segments = levels[static_cast<std::size_t>(level)];
    std::size_t segment = 0;
    while (segment + 1 < segments.size() && bytes > segments[segment].up_to) {
        ++segment;
    }
    LogGopsParameters found = segments[segment].parameters;
    if (level == Level::system && !octaves.empty()) {
        auto const nodes = static_cast<int>(octaves.size());
        int const each = std::max(1, ranks_per_node);
        int const ahead = (to / each - from / each) % nodes;
        double const far = octaves[static_cast<std::size_t>((ahead + nodes) % nodes)];
        found.latency += std::llround(far * static_cast<double>(octave_latency));
        found.gap_per_byte += std::llround(far * static_cast<double>(octave_per_byte));
    }
    return found;
}

Machine uniform_machine(LogGopsParameters const& parameters) {
    Machine machine;
    machine.levels.fill({{.parameters = parameters}});
    return machine;
}

Machine machine_of(MachineModel const& model, MachineParameters const& parameters, int ranks_per_node, int nodes) {
    auto const us = [&parameters](Parameter parameter) { return std::exp(parameters[index_of(parameter)]); };
    auto const ps = [](double microseconds) -> Picoseconds {
        return std::llround(std::min(microseconds * picoseconds_per_us, beyond_all_machines));
    };
    auto const fs = [](double microseconds) -> FemtosecondsPerByte {
        return std::llround(std::min(microseconds * femtoseconds_per_us, beyond_all_machines));
    };
    double const latency = us(Parameter::latency);
    double const overhead = std::min(us(Parameter::message), latency / 2);
    // A fitted value is above 0, also where it rounds to 0: shared links need a bandwidth.
    FemtosecondsPerByte const nic_byte = std::max<FemtosecondsPerByte>(fs(us(Parameter::byte)), 1);
    // Inside a node the processor of the sender moves the bytes, over a network the NIC.
    auto const parameters_up_to = [&](double bytes, bool inside) {
        bool const eager = bytes <= model.limits.eager_bytes;
        double const rendezvous = eager ? 0 : us(Parameter::rendezvous);
        double const fetch = inside || bytes <= model.limits.inject_bytes ? 0 : us(Parameter::fetch);
        double const hop = inside ? 0 : us(Parameter::hop);
        return LogGopsParameters{ps(latency - 2 * overhead + hop + rendezvous + fetch), ps(overhead),
                                 ps(us(Parameter::message)), inside ? 0 : nic_byte,
                                 fs((inside ? us(Parameter::inside) : 0) + (eager ? us(Parameter::eager) : 0))};
    };
    auto const [smaller, larger] = std::minmax(model.limits.inject_bytes, model.limits.eager_bytes);
    Machine machine;
    for (Level const level : {Level::node, Level::system}) {
        bool const inside = level == Level::node;
        machine.level(level) = {{static_cast<Bytes>(smaller), parameters_up_to(smaller, inside)},
                                {static_cast<Bytes>(larger), parameters_up_to(larger, inside)},
                                {.parameters = parameters_up_to(beyond_all_machines, inside)}};
    }
    if (model.kind == TopologyKind::tree) {
        machine.octave_latency = ps(us(Parameter::hop));
        machine.octave_per_byte = fs(us(Parameter::far));
        machine.octaves = mean_octaves(nodes);
    }
    machine.ranks_per_node = ranks_per_node;
    machine.eager_limit = static_cast<Bytes>(model.limits.eager_bytes);
    machine.reduce_per_byte = fs(us(Parameter::reduce));
    machine.copy_per_byte = fs(us(Parameter::copy));
    machine.call = ps(us(Parameter::call));
    return machine;
}

}  // namespace dlmb::predict
