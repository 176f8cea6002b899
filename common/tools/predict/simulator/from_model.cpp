// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/simulator/from_model.hpp"

#include <algorithm>
#include <cmath>

namespace dlmb::predict {
namespace {

constexpr double picoseconds_per_us = 1e6;
constexpr double femtoseconds_per_us = 1e9;
constexpr double beyond_all_machines = 1e18;  // ps or fs; check() refuses what is so large

}  // namespace

Machine machine_of(MachineModel const& model, Parameters const& parameters, int ranks_per_node) {
    auto const us = [&parameters](Parameter parameter) {
        return std::exp(parameters[static_cast<std::size_t>(parameter)]);
    };
    auto const ps = [](double microseconds) -> Picoseconds {
        return std::llround(std::min(microseconds * picoseconds_per_us, beyond_all_machines));
    };
    auto const fs = [](double microseconds) -> FemtosecondsPerByte {
        return std::llround(std::min(microseconds * femtoseconds_per_us, beyond_all_machines));
    };
    double const latency = us(Parameter::latency);
    double const overhead = std::min(us(Parameter::message), latency / 2);
    double const waiting =
        model.processors > 0 ? std::max(0.0, static_cast<double>(ranks_per_node) / model.processors - 1) : 0;
    double const handover = waiting * us(Parameter::handover);
    // What was fitted is above 0, also where it rounds to 0: shared links need a bandwidth.
    FemtosecondsPerByte const nic_byte = std::max<FemtosecondsPerByte>(fs(us(Parameter::byte)), 1);
    // Inside a node the processor of the sender moves the bytes, over a network the NIC.
    auto const parameters_up_to = [&](double bytes, bool inside) {
        bool const eager = bytes <= model.limits.eager_bytes;
        double const rendezvous = eager ? 0 : us(Parameter::rendezvous) + handover;
        double const fetch = inside || bytes <= model.limits.inject_bytes ? 0 : us(Parameter::fetch);
        double const hop = inside ? 0 : us(Parameter::hop);
        return LogGopsParameters{ps(latency - 2 * overhead + hop + handover + rendezvous + fetch), ps(overhead),
                                 ps(us(Parameter::message)), inside ? 0 : nic_byte,
                                 fs((inside ? us(Parameter::inside) : 0) + (eager ? us(Parameter::eager) : 0))};
    };
    auto const [smaller, larger] = std::minmax(model.limits.inject_bytes, model.limits.eager_bytes);
    Machine machine;
    for (std::size_t level = 0; level < machine.levels.size(); ++level) {
        bool const inside = level <= static_cast<std::size_t>(Level::node);
        machine.levels[level] = {{static_cast<Bytes>(smaller), parameters_up_to(smaller, inside)},
                                 {static_cast<Bytes>(larger), parameters_up_to(larger, inside)},
                                 {.parameters = parameters_up_to(beyond_all_machines, inside)}};
    }
    machine.ranks_per_node = ranks_per_node;
    machine.processors_per_node = model.processors;
    machine.eager_limit = static_cast<Bytes>(model.limits.eager_bytes);
    machine.reduce_per_byte = fs(us(Parameter::reduce));
    machine.copy_per_byte = fs(us(Parameter::copy));
    machine.cached_bytes = static_cast<Bytes>(model.limits.cached_bytes);
    machine.memory_per_byte = fs(us(Parameter::memory));
    machine.call = ps(us(Parameter::call) + waiting * us(Parameter::turn));
    return machine;
}

}  // namespace dlmb::predict
