// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/network_options.hpp"

#include "common/base/command_line/number_checks.hpp"
#include "common/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlmb::predict::commands {

using namespace dlmb::predict;

SharedLinks::SharedLinks(Topology topology, Placement placement, std::uint64_t seed, int ranks, int ranks_per_node,
                         LinkCosts const& costs)
    : topology_(std::move(topology)), interconnect_(interconnect_of(topology_)), bytes_per_ps_(costs.bytes_per_ps),
      network_(*interconnect_, nodes_of_ranks(*interconnect_, placement, ranks, ranks_per_node, seed), costs) {}

nlohmann::ordered_json SharedLinks::to_json(Picoseconds time) const {
    LinkLoads const& loads = network_.loads();
    LinkId const busiest = loads.busiest();
    double const carried = bytes_per_ps_ * static_cast<double>(time);  // by a link of capacity 1
    return {{"topology", topology_.text()},
            {"contention", "links"},
            {"busiest_link", interconnect_->name(busiest)},
            {"busiest_link_bytes", loads.bytes(busiest)},
            {"busiest_link_busy", carried > 0 ? loads.load(busiest) / carried : 0},
            {"mean_link_busy", carried > 0 ? loads.mean() / carried : 0}};
}

std::string SharedLinks::to_text(Picoseconds time) const {
    if (network_.loads().largest() <= 0) {
        return fmt::format("\nlinks of {}: no message left its node\n", topology_.text());
    }
    nlohmann::ordered_json const links = to_json(time);
    return fmt::format("\nlinks of {}: {:.1f} % busy in the mean; the busiest {:.1f} % with {:.6g} bytes: {}\n",
                       links["topology"].get<std::string>(), 100 * links["mean_link_busy"].get<double>(),
                       100 * links["busiest_link_busy"].get<double>(), links["busiest_link_bytes"].get<double>(),
                       links["busiest_link"].get<std::string>());
}

void NetworkOptions::add(CLI::App& parser) {
    parser.add_option("--topology", topology_, fmt::format("messages share the links of {}", topology_forms));
    parser
        .add_option("--contention", contention_,
                    "none: only NICs are shared; links: links are, by max-min fairness [links with --topology]")
        ->check(CLI::IsMember({"none", "links"}));
    parser.add_option("--placement", placement_, "of ranks on the topology: row-major, blocked or random")
        ->capture_default_str();
    parser.add_option("--placement-seed", seed_, "seed of a random placement")
        ->check(whole_number_check)
        ->capture_default_str();
    parser
        .add_option("--rate-tolerance", tolerance_,
                    "compute rates less often: messages may take longer by about this share, such as 0.01")
        ->check(number_check(0, 0.5))
        ->capture_default_str();
    parser.add_option("--hop", hop_ns_, "ns that each link beyond the first adds to L")
        ->check(number_check(0, 1e9))
        ->capture_default_str();
}

std::unique_ptr<SharedLinks> NetworkOptions::make(Machine const& machine, int ranks) const {
    if (topology_.empty()) {
        if (contention_ == "links") {
            throw UsageError(fmt::format("time: --contention links needs --topology, such as {}", topology_forms));
        }
        return nullptr;
    }
    if (contention_ == "none") {
        return nullptr;
    }
    FemtosecondsPerByte const per_byte =
        machine.levels.at(static_cast<std::size_t>(Level::system)).back().parameters.gap_per_byte;
    if (per_byte == 0) {
        throw UsageError("time: --topology needs the bandwidth of a node: --gap-per-byte above 0");
    }
    constexpr double femtoseconds = 1000;
    LinkCosts const costs{femtoseconds / static_cast<double>(per_byte), std::llround(hop_ns_ * 1000), tolerance_};
    return std::make_unique<SharedLinks>(parse_topology(topology_), parse_placement(placement_), seed_, ranks,
                                         std::max(1, machine.ranks_per_node), costs);
}

}  // namespace dlmb::predict::commands
