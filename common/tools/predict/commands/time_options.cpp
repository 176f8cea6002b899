// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/tools/predict/commands/time_options.hpp"

#include "common/base/command_line/number_checks.hpp"
#include "common/base/error.hpp"
#include "common/base/units.hpp"
#include "common/tools/predict/pricing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace dlmb::predict::commands {

void MachineOptions::add(CLI::App& parser) {
    CLI::Option* const machine =
        option_.add_to(parser, "--machine", "machine model of dlmb_predict fit, instead of the parameters below");
    for (LevelOption& option : level_options_) {
        parser.add_option(option.name, option.text, option.help)->excludes(machine);
    }
    parser
        .add_option("--eager-limit", eager_limit_,
                    "sends of more bytes end only when they are received [none: no send waits]")
        ->excludes(machine);
    for (MachineOption& option : machine_options_) {
        parser.add_option(option.name, option.value, option.help)->capture_default_str()->excludes(machine);
    }
}

Machine MachineOptions::machine(int ranks_per_node, int nodes) {
    if (option_.given()) {
        model_ = option_.read();
        return machine_of(*model_, model_->best.parameters, ranks_per_node, nodes);
    }
    bool const given = std::any_of(level_options_.begin(), level_options_.end(),
                                   [](LevelOption const& option) { return !option.text.empty(); });
    if (!given) {
        throw UsageError("time: say what messages cost: --machine MODEL, or --latency, --overhead, --gap, "
                         "--gap-per-byte");
    }
    Machine machine = uniform_machine({});
    for (LevelOption const& option : level_options_) {
        read_levels(option, machine);
    }
    for (MachineOption const& option : machine_options_) {
        machine.*option.field = rounded(option.name, option.value, option.factor);
    }
    machine.ranks_per_node = ranks_per_node;
    if (!eager_limit_.empty()) {
        machine.eager_limit = parse_bytes(eager_limit_, "--eager-limit");
    }
    return machine;
}

/// A level that is not named has the value of the other one.
void MachineOptions::read_levels(LevelOption const& option, Machine& machine) {
    std::array<std::optional<double>, level_names.size()> values;
    for (std::string_view const each : words(option.text, ",")) {
        std::size_t const equals = each.find('=');
        auto const number = parse_whole<double>(equals == std::string_view::npos ? each : each.substr(equals + 1));
        auto const level = std::find(level_names.begin(), level_names.end(), each.substr(0, equals));
        if (!number || (equals != std::string_view::npos && level == level_names.end())) {
            throw UsageError(fmt::format("{} {}: expected NS, or LEVEL=NS,LEVEL=NS with the levels {}", option.name,
                                         option.text, fmt::join(level_names, ", ")));
        }
        if (equals == std::string_view::npos) {
            values.fill(number);
        } else if (auto& value = values.at(static_cast<std::size_t>(level - level_names.begin())); value) {
            throw UsageError(fmt::format("{} {}: level {} stands twice", option.name, option.text, *level));
        } else {
            value = number;
        }
    }
    for (std::size_t level = 0; level < values.size(); ++level) {
        double const value = values.at(level).value_or(values.at(1 - level).value_or(0));
        machine.levels.at(level).front().parameters.*option.field = rounded(option.name, value, option.factor);
    }
}

std::int64_t MachineOptions::rounded(char const* name, double value, double factor) {
    constexpr double most = 1e15;
    if (!(value >= 0 && value * factor <= most)) {
        throw UsageError(fmt::format("{} {}: expected nanoseconds from 0 to {:g}", name, value, most / factor));
    }
    return std::llround(value * factor);
}

void MachineOptions::require(OperationKind kind, int nodes) const {
    if (std::string const why = model_ && !model_->forced ? doubt_of(*model_, kind, nodes) : ""; !why.empty()) {
        throw ModelRefusal(why);
    }
}

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

void NetworkOptions::add(CLI::App& parser) {
    CLI::Option* const topology = parser.add_option(
        "--topology", topology_, fmt::format("messages share the links of {} by max-min fairness", topology_forms));
    std::map<std::string, Placement> const placements{
        {"row-major", Placement::row_major}, {"blocked", Placement::blocked}, {"random", Placement::random}};
    parser.add_option("--placement", placement_, "how ranks lie on the nodes [row-major]")
        ->needs(topology)
        ->transform(CLI::CheckedTransformer(placements));
    parser.add_option("--placement-seed", seed_, "seed of a random placement [1]")
        ->needs(topology)
        ->check(whole_number_check);
    parser
        .add_option("--rate-tolerance", tolerance_,
                    "compute rates less often: messages may take longer by about this share; 0: always up to date")
        ->needs(topology)
        ->check(number_check(0, 0.5))
        ->capture_default_str();
    parser.add_option("--hop", hop_ns_, "ns that each link beyond those of the shortest route adds to L")
        ->needs(topology)
        ->check(number_check(0, 1e9))
        ->capture_default_str();
}

std::unique_ptr<SharedLinks> NetworkOptions::make(Machine const& machine, int ranks, bool required) const {
    if (topology_.empty() && !required) {
        return nullptr;
    }
    if (topology_.empty()) {
        throw UsageError(fmt::format("time: --bound needs --topology, such as {}", topology_forms));
    }
    FemtosecondsPerByte const per_byte = machine.levels.back().back().parameters.gap_per_byte;
    if (per_byte == 0) {
        throw UsageError("time: --topology needs the bandwidth of a node: --gap-per-byte above 0");
    }
    if (seed_ && placement_ != Placement::random) {
        throw UsageError("time: --placement-seed is of --placement random; leave it out");
    }
    if (hop_ns_ > 0 && !machine.octaves.empty()) {
        throw UsageError("time: --hop: the fitted model of a tree has latency by distance; leave it out");
    }
    constexpr double femtoseconds = 1000;
    LinkCosts const costs{femtoseconds / static_cast<double>(per_byte), std::llround(hop_ns_ * 1000), tolerance_};
    return std::make_unique<SharedLinks>(parse_topology(topology_), placement_, seed_.value_or(1), ranks,
                                         std::max(1, machine.ranks_per_node), costs);
}

}  // namespace dlmb::predict::commands
