// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/network_options.hpp"

#include "common/base/command_line/number_checks.hpp"
#include "common/base/error.hpp"
#include "common/tools/predict/commands/simulation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlmb::predict::commands {

SharedLinks::SharedLinks(Topology const& topology, Placement placement, std::uint64_t seed, int ranks,
                         int ranks_per_node, LinkCosts const& costs)
    : interconnect_(interconnect_of(topology)),
      nodes_(
          nodes_of_ranks(*interconnect_, placement, ranks > 0 ? ranks : interconnect_->nodes(), ranks_per_node, seed)),
      bytes_per_ps_(costs.bytes_per_ps), network_(*interconnect_, nodes_, costs) {}

Bound SharedLinks::bound(PlanSource const& plans, LoweringChoice const& choice, Machine const& machine) const {
    return bound_of_plans(plans, choice, machine, *interconnect_, nodes_, bytes_per_ps_);
}

Bound SharedLinks::uniform_bound(Bytes bytes, Machine const& machine) const {
    int const others = interconnect_->nodes() - 1;
    LinkLoads const loads =
        others > 0 ? uniform_loads(*interconnect_, static_cast<double>(bytes) / others) : LinkLoads(*interconnect_);
    Picoseconds const latency =
        others > 0 ? machine.parameters(0, machine.ranks_per_node, bytes / static_cast<Bytes>(others)).latency : 0;
    return bound_of(loads, static_cast<double>(latency), bytes_per_ps_);
}

nlohmann::ordered_json SharedLinks::to_json(Bound const& bound) const {
    return {{"topology", interconnect_->topology().text()},
            {"time_ps", std::llround(bound.time_ps())},
            {"injection_ps", std::llround(bound.node_ps)},
            {"links_ps", std::llround(bound.link_ps)},
            {"latency_ps", std::llround(bound.latency_ps)},
            {"limit", bound.limit()},
            {"share", bound.share},
            {"busiest_link", bound.busiest_link},
            {"mean_load", bound.mean_load}};
}

std::string SharedLinks::to_text(Bound const& bound) const {
    auto const us = [](double picoseconds) { return std::round(picoseconds) / picoseconds_per_us; };
    return fmt::format(
        "at least {:.3f} us on {}, for {}\n\n{:<10} {:>12.3f} us\n{:<10} {:>12.3f} us\n{:<10} {:>12.3f} us\n\n"
        "The busiest node gets {:.4f} of its injection bandwidth; links carry {:.2f} of the busiest one in "
        "the mean{}{}\n",
        us(bound.time_ps()), interconnect_->topology().text(), bound.limit(), "injection", us(bound.node_ps), "links",
        us(bound.link_ps), "latency", us(bound.latency_ps), bound.share, bound.mean_load,
        bound.busiest_link.empty() ? "" : ": ", bound.busiest_link);
}

nlohmann::ordered_json SharedLinks::to_json(Picoseconds time) const {
    LinkLoads const& loads = network_.loads();
    LinkId const busiest = loads.busiest();
    double const carried = bytes_per_ps_ * static_cast<double>(time);  // by a link of capacity 1
    return {{"topology", interconnect_->topology().text()},
            {"contention", "links"},
            {"busiest_link", interconnect_->name(busiest)},
            {"busiest_link_bytes", loads.bytes(busiest)},
            {"busiest_link_busy", carried > 0 ? loads.load(busiest) / carried : 0},
            {"mean_link_busy", carried > 0 ? loads.mean() / carried : 0}};
}

std::string SharedLinks::to_text(Picoseconds time) const {
    if (network_.loads().largest() <= 0) {
        return fmt::format("\nlinks of {}: no message left its node\n", interconnect_->topology().text());
    }
    nlohmann::ordered_json const links = to_json(time);
    return fmt::format("\nlinks of {}: {:.1f} % busy in the mean; the busiest {:.1f} % with {:.6g} bytes: {}\n",
                       links["topology"].get<std::string>(), 100 * links["mean_link_busy"].get<double>(),
                       100 * links["busiest_link_busy"].get<double>(), links["busiest_link_bytes"].get<double>(),
                       links["busiest_link"].get<std::string>());
}

void NetworkOptions::add(CLI::App& parser) {
    parser.add_option("--topology", topology_,
                      fmt::format("messages share the links of {} by max-min fairness", topology_forms));
    parser.add_option("--placement", placement_, "how ranks lie on the nodes: row-major, blocked or random")
        ->capture_default_str();
    parser.add_option("--placement-seed", seed_, "seed of a random placement")
        ->check(whole_number_check)
        ->capture_default_str();
    parser
        .add_option("--rate-tolerance", tolerance_,
                    "compute rates less often: messages may take longer by about this share; 0: always up to date")
        ->check(number_check(0, 0.5))
        ->capture_default_str();
    parser.add_option("--hop", hop_ns_, "ns that each link beyond the first adds to L")
        ->check(number_check(0, 1e9))
        ->capture_default_str();
}

std::unique_ptr<SharedLinks> NetworkOptions::make(Machine const& machine, int ranks) const {
    if (topology_.empty()) {
        return nullptr;
    }
    FemtosecondsPerByte const per_byte = machine.levels.back().back().parameters.gap_per_byte;
    if (per_byte == 0) {
        throw UsageError("time: --topology needs the bandwidth of a node: --gap-per-byte above 0");
    }
    constexpr double femtoseconds = 1000;
    LinkCosts const costs{femtoseconds / static_cast<double>(per_byte), std::llround(hop_ns_ * 1000), tolerance_};
    return std::make_unique<SharedLinks>(parse_topology(topology_), parse_placement(placement_), seed_, ranks,
                                         std::max(1, machine.ranks_per_node), costs);
}

}  // namespace dlmb::predict::commands
