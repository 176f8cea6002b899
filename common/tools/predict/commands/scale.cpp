// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict scale PATTERN [options of dlmb_PATTERN] --ranks 64,256 --topology FAMILY ...: what an iteration costs at
// least, over numbers of ranks and topologies of equal injection bandwidth. --uniform BYTES: of an all-to-all.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/base/version.hpp"
#include "common/run/options/options.hpp"
#include "common/run/printouts.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/network/topology.hpp"
#include "common/tools/predict/scaling.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace dlmb::predict::commands {
namespace {

using namespace dlmb::predict;
using Json = nlohmann::ordered_json;

constexpr double bytes_per_ps_of_1_gb_per_s = 1e-3;
constexpr double ps_per_us = 1e6;
constexpr char const* in_network = "in_network";

/// One number of ranks on one topology.
struct ScalePoint {
    std::string family;
    std::string topology;
    int ranks = 0;
    std::string allreduce;
    Bound bound;
    double share = 1;
    std::string busiest_link;
    double mean_load = 0;  // of the links, over that of the busiest one
    double efficiency = 1;
    [[nodiscard]] double time_us() const { return bound.time_ps() / ps_per_us; }
};

class Scale {
public:
    void add_options(CLI::App& parser) {
        parser_ = &parser;
        parser.allow_extras();
        parser.add_option("PATTERN", pattern_, "what follows it and is not listed here are options of dlmb_PATTERN");
        parser.add_option("--uniform", uniform_,
                          "instead of a pattern: each node sends so many bytes evenly to all others");
        parser.add_option("--ranks", ranks_, "numbers of ranks, such as 64,256,1024")->required()->delimiter(',');
        parser.add_option("--topology", families_, fmt::format("may be repeated: {}", family_forms))
            ->required()
            ->allow_extra_args(false);
        parser.add_option("--strong", strong_,
                          "strong scaling: this parameter of the pattern is divided as ranks grow [weak scaling]");
        parser
            .add_option("--ranks-per-node", ranks_per_node_,
                        "ranks that share a node of the topology and its bandwidth")
            ->check(CLI::Range(1, 1 << 20))
            ->capture_default_str();
        parser.add_option("--placement", placement_, "how ranks lie on the nodes: row-major, blocked or random")
            ->capture_default_str();
        parser.add_option("--placement-seed", seed_, "seed of a random placement")
            ->check(whole_number_check)
            ->capture_default_str();
        parser
            .add_option("--bandwidth-GBps", bandwidth_, "bandwidth of a node into the network, 10^9 bytes per second")
            ->check(number_check(1e-6, 1e9))
            ->capture_default_str();
        parser.add_option("--latency-us", latency_us_, "latency of a message")
            ->check(number_check(0, 1e9))
            ->capture_default_str();
        parser.add_option("--hop-ns", hop_ns_, "time of each link beyond the first")
            ->check(number_check(0, 1e9))
            ->capture_default_str();
        parser
            .add_option("--allreduce", allreduce_,
                        "an algorithm of backend ucx, or in_network where there are switches; all others by auto, as "
                        "dlmb_predict time does them")
            ->capture_default_str();
        parser.add_flag("--json", json_, "print JSON, for dlmb_plot");
        parser.add_option("-o,--output", output_, "where to write; - prints it")->capture_default_str();
    }

    int run() {
        if (pattern_.empty() == uniform_.empty()) {
            throw UsageError("scale: give either a pattern or --uniform BYTES");
        }
        if (!strong_.empty() && !uniform_.empty()) {
            throw UsageError("scale: --strong names a parameter of a pattern, and --uniform has none");
        }
        for (int const ranks : ranks_) {
            if (ranks < 1) {
                throw UsageError(fmt::format("--ranks {}: must be at least 1", ranks));
            }
            uniform_.empty() ? add_pattern(ranks) : add_uniform(ranks);
        }
        set_efficiency();
        write_output(output_, json_ ? to_json().dump(1) + "\n" : to_text());
        return exit_ok;
    }

private:
    [[nodiscard]] NetworkCosts costs() const {
        return {bandwidth_ * bytes_per_ps_of_1_gb_per_s, latency_us_ * ps_per_us, hop_ns_ * 1000};
    }

    std::vector<PlacedTraffic> placed(int ranks) const {
        std::vector<PlacedTraffic> traffics;
        AllreduceBy const allreduce = allreduce_ == in_network ? AllreduceBy::in_network : AllreduceBy::messages;
        for (std::string const& family : families_) {
            Topology const topology = topology_of_family(family, (ranks + ranks_per_node_ - 1) / ranks_per_node_);
            std::vector<int> nodes =
                nodes_of_ranks(*interconnect_of(topology), parse_placement(placement_), ranks, ranks_per_node_, seed_);
            traffics.emplace_back(topology, std::move(nodes), costs(), allreduce);
        }
        return traffics;
    }

    void add_uniform(int ranks) {
        std::vector<PlacedTraffic> traffics = placed(ranks);
        for (PlacedTraffic& traffic : traffics) {
            traffic.add_uniform(static_cast<double>(parse_bytes(uniform_, "--uniform")));
        }
        title_ = fmt::format("uniform all-to-all, {} bytes from each node", parse_bytes(uniform_, "--uniform"));
        add_points(ranks, traffics);
    }

    void add_pattern(int ranks) {
        PatternType const& type = pattern_named(pattern_);
        run::PlannedPoint const planned = plan(type, ranks);
        std::vector<PlacedTraffic> traffics = placed(ranks);
        LoweringChoice choice;
        if (allreduce_ != in_network) {
            choice.algorithms[OperationKind::all_reduce] = allreduce_;
        }
        for (PlacedTraffic& traffic : traffics) {
            traffic.add(planned.plans, choice);
        }
        if (points_.empty()) {
            title_ = fmt::format("{} {}", pattern_, planned.point.title);
            preset_ = planned.point.preset;
        }
        add_points(ranks, traffics);
    }

    /// The pattern at so many ranks; strong scaling divides a parameter by as much as the ranks have grown.
    run::PlannedPoint plan(PatternType const& type, int ranks) {
        std::vector<std::string> arguments{fmt::format("dlmb_{}", pattern_)};
        std::vector<std::string> const more = parser_->remaining();
        std::string const own = "--" + strong_;
        for (std::size_t index = 0; index < more.size(); ++index) {
            if (strong_.empty() || total_ == 0 || (more[index] != own && !more[index].starts_with(own + "="))) {
                arguments.push_back(more[index]);
            } else if (more[index] == own) {
                ++index;
            }
        }
        arguments.insert(arguments.end(),
                         {"--ranks", std::to_string(ranks), "--ranks-per-node", std::to_string(ranks_per_node_)});
        if (total_ > 0) {
            if (total_ % static_cast<std::uint64_t>(ranks) != 0) {
                throw UsageError(
                    fmt::format("--strong {}: {} in all cannot be divided among {} ranks", strong_, total_, ranks));
            }
            arguments.insert(arguments.end(), {own, std::to_string(total_ / static_cast<std::uint64_t>(ranks))});
        }
        auto parsed = run::parse_options(type, arguments);
        if (std::holds_alternative<run::Printout>(parsed) || std::get<run::Options>(parsed).plan) {
            throw UsageError(fmt::format("scale: options that print, such as --plan, are those of dlmb_{}", pattern_));
        }
        run::PlannedPoint point = run::planned_point(type, std::get<run::Options>(parsed), "scale");
        if (!strong_.empty() && total_ == 0) {
            auto const found = point.point.parameters.find(strong_);
            if (found == point.point.parameters.end()) {
                std::vector<std::string> names;
                for (auto const& [name, value] : point.point.parameters) {
                    names.push_back(name);
                }
                throw UsageError(fmt::format("--strong: {}", unknown_name("parameter", strong_, names)));
            }
            auto const value = parse_whole<std::uint64_t>(found->second);
            if (!value || *value == 0) {
                throw UsageError(
                    fmt::format("--strong {}: its value '{}' is no number to divide", strong_, found->second));
            }
            total_ = *value * static_cast<std::uint64_t>(ranks);
        }
        return point;
    }

    void add_points(int ranks, std::vector<PlacedTraffic> const& traffics) {
        for (std::size_t index = 0; index < traffics.size(); ++index) {
            PlacedTraffic const& traffic = traffics[index];
            LinkLoads const& loads = traffic.loads();
            double const largest = loads.largest();
            bool const by_switches = traffic.allreduce() == AllreduceBy::in_network;
            std::string const allreduce = by_switches ? in_network : allreduce_ == in_network ? "auto" : allreduce_;
            points_.push_back({families_[index], traffic.topology().text(), ranks, allreduce, traffic.bound(),
                               loads.share(), largest > 0 ? traffic.interconnect().name(loads.busiest()) : "",
                               largest > 0 ? loads.mean() / largest : 0});
        }
    }

    void set_efficiency() {
        for (ScalePoint& point : points_) {
            auto const first = std::find_if(points_.begin(), points_.end(),
                                            [&](ScalePoint const& each) { return each.family == point.family; });
            double const ideal = strong_.empty() ? first->time_us() : first->time_us() * first->ranks / point.ranks;
            point.efficiency = point.time_us() > 0 ? ideal / point.time_us() : 1;
        }
    }

    [[nodiscard]] std::string to_text() const {
        std::string text = fmt::format("{}: {} scaling, {:g} GB/s and {:g} us per message and node\n\n", title_,
                                       strong_.empty() ? "weak" : "strong", bandwidth_, latency_us_);
        std::size_t width = 8;
        for (ScalePoint const& point : points_) {
            width = std::max(width, point.topology.size());
        }
        text += fmt::format("{:>7}  {:<{}} {:>12} {:>7} {:>6} {:>6}  {:<9}  {}\n", "ranks", "topology", width,
                            "at least us", "share", "mean", "effic.", "limit", "busiest link");
        for (ScalePoint const& point : points_) {
            text += fmt::format("{:>7}  {:<{}} {:>12.2f} {:>7.4f} {:>6.2f} {:>6.2f}  {:<9}  {}\n", point.ranks,
                                point.topology, width, point.time_us(), point.share, point.mean_load, point.efficiency,
                                point.bound.limit(), point.busiest_link);
        }
        text += "\nshare: of its injection bandwidth that the busiest node gets. mean: load of all links over that of "
                "the busiest.\n";
        return text;
    }

    [[nodiscard]] Json to_json() const {
        Json points = Json::array();
        for (ScalePoint const& point : points_) {
            points.push_back({{"family", point.family},
                              {"topology", point.topology},
                              {"ranks", point.ranks},
                              {"allreduce", point.allreduce},
                              {"time_us", point.time_us()},
                              {"injection_us", point.bound.node_ps / ps_per_us},
                              {"links_us", point.bound.link_ps / ps_per_us},
                              {"latency_us", point.bound.latency_ps / ps_per_us},
                              {"limit", point.bound.limit()},
                              {"share", point.share},
                              {"busiest_link", point.busiest_link},
                              {"mean_load", point.mean_load},
                              {"efficiency", point.efficiency}});
        }
        return {{"schema", "dlmb.scaling/1.1"},
                {"made_by", fmt::format("dlmb_predict {}", build_info().version)},
                {"traffic", title_},
                {"pattern", pattern_},
                {"preset", preset_},
                {"scaling", strong_.empty() ? "weak" : "strong"},
                {"divided", strong_},
                {"placement", placement_},
                {"contention", "bound"},
                {"ranks_per_node", ranks_per_node_},
                {"bandwidth_GBps", bandwidth_},
                {"latency_us", latency_us_},
                {"hop_ns", hop_ns_},
                {"points", points}};
    }

    CLI::App* parser_ = nullptr;
    std::string pattern_;
    std::string uniform_;
    std::vector<int> ranks_;
    std::vector<std::string> families_;
    std::string strong_;
    int ranks_per_node_ = 1;
    std::string placement_ = "row-major";
    std::uint64_t seed_ = 1;
    double bandwidth_ = 50;
    double latency_us_ = 2;
    double hop_ns_ = 0;
    std::string allreduce_ = "auto";
    bool json_ = false;
    std::string output_ = "-";

    std::string title_;
    std::string preset_;
    std::uint64_t total_ = 0;  // of the parameter that strong scaling divides
    std::vector<ScalePoint> points_;
};

}  // namespace

void add_scale(CLI::App& program, int& exit_code) {
    add_command<Scale>(program, "scale", "Bound the time of a pattern over ranks and topologies", exit_code);
}

}  // namespace dlmb::predict::commands
