// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict time PLANS --machine MODEL | --latency NS ...: simulates the plans of all ranks, of a file or from a
// pipe (dlmb_PATTERN --plan jsonl | dlmb_predict time - ...); --bound: what they take at least on a topology.
// dlmb_predict time --goal FILE ...: simulates a schedule.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/predict/commands/machine_options.hpp"
#include "common/tools/predict/commands/network_options.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/commands/simulation_text.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

namespace dlmb::predict::commands {
namespace {

constexpr std::uint64_t most_interval_messages = 50'000'000;  // of 40 replicates together: some ten seconds
constexpr std::uint64_t cost_of_shared_links = 300;           // simulating a message takes as long as so many without

class Time {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("PLANS", plans_,
                          "plans of all ranks, of --plan jsonl or dlmb_plan import; -: from a pipe, as in "
                          "dlmb_moe_alltoall --preset mixtral-8x7b --ranks 8 --plan jsonl | dlmb_predict time - ...");
        parser.add_option("--goal", goal_, "simulate this schedule (GOAL text, in ns) instead of plans");
        machine_options_.add(parser);
        parser.add_option(
            "--algorithm", algorithms_,
            "algorithms by operation, as allreduce=ring,exchange=pairwise [auto, exchange=linear]; of --bound "
            "also allreduce=in_network");
        parser.add_option("--radix", choice_.knobs.radix, "of the algorithm knomial")->check(CLI::Range(2, 1 << 20));
        parser.add_option("--segment", segment_, "size of the pieces of ring and chain");
        parser.add_option("--outstanding", choice_.outstanding, "exchange=pairwise: sends and receives at once")
            ->check(CLI::PositiveNumber)
            ->capture_default_str();
        network_options_.add(parser);
        parser.add_flag("--bound", bound_,
                        "do not simulate: what the plans take at least on the --topology, for its busiest node, its "
                        "busiest link or its longest chain of messages");
        parser.add_option("--uniform", uniform_,
                          "of --bound, instead of plans: each node sends so many bytes evenly to all others");
        parser.add_flag("--json", json_, "print one JSON object, all times in ps");
        parser.add_option("--path", most_pieces_, "print so many pieces of the critical path")
            ->check(CLI::Range(0, 1 << 30))
            ->capture_default_str();
    }

    int run() {
        read_choice();
        int const given = (goal_.empty() ? 0 : 1) + (plans_.empty() ? 0 : 1) + (uniform_.empty() ? 0 : 1);
        if (given != 1 || (bound_ && !goal_.empty()) || (!bound_ && !uniform_.empty())) {
            throw UsageError("time: give either PLANS or --goal FILE; with --bound PLANS or --uniform BYTES");
        }
        return !uniform_.empty() ? run_uniform() : goal_.empty() ? run_plans() : run_goal();
    }

private:
    int run_goal() {
        Program const schedule = read_goal(read_document(goal_), goal_);
        int const ranks = schedule.ranks();
        WorldShape const world{ranks, 0};
        Machine const machine = machine_options_.machine(0);
        if (machine_options_.refuses(OperationKind::send, ranks)) {
            return exit_unavailable;
        }
        auto const links = network_options_.make(machine, ranks);
        answer(machine, links.get(), world, fmt::format("{}: {} ranks", goal_, ranks),
               {{"goal", goal_}, {"ranks", ranks}}, [&] { return Program(schedule); });
        return exit_ok;
    }

    int run_plans() {
        if (plans_ != "-" && !std::filesystem::exists(plans_)) {
            throw UsageError(fmt::format("time: there is no file {}; plans of a pattern come from its program: "
                                         "dlmb_PATTERN ... --ranks N --plan jsonl | dlmb_predict time - ...",
                                         plans_));
        }
        PlanFile const read = read_plan_file(plans_);
        PlanHeader const& file = read.header;
        PlanSource const plans(read.plans);
        Machine const machine = machine_options_.machine(file.world.ranks_per_node);
        for (OperationKind const kind : kinds_in(read.plans)) {
            if (machine_options_.refuses(kind, nodes_of(file.world))) {
                return exit_unavailable;
            }
        }
        std::string const title =
            fmt::format("{}{}{}: {} ranks, {} per node", file.pattern, file.preset.empty() ? "" : " ", file.preset,
                        file.world.ranks, file.world.ranks_per_node);
        auto const links = network_options_.make(machine, file.world.ranks);
        SimulationJson const context{{"pattern", file.pattern},
                                     {"preset", file.preset},
                                     {"parameters", file.parameters},
                                     {"ranks", file.world.ranks},
                                     {"ranks_per_node", file.world.ranks_per_node},
                                     {"seed", file.draw.seed}};
        if (bound_) {
            require_topology(links.get());
            print_bound(*links, links->bound(plans, choice_, machine), title, context);
            return exit_ok;
        }
        // Ranks that are alike are not so on links.
        int const period = links ? file.world.ranks : period_of(plans, choice_, std::max(1, machine.ranks_per_node));
        answer(machine, links.get(), file.world, title, context, [&] { return lower(plans, choice_, period); });
        return exit_ok;
    }

    static std::set<OperationKind> kinds_in(std::vector<Plan> const& plans) {
        std::set<OperationKind> kinds;
        for (Plan const& plan : plans) {
            for (Step const& step : plan.steps) {
                kinds.insert(kind_of(step.operation));
            }
        }
        return kinds;
    }

    int run_uniform() {
        Machine const machine = machine_options_.machine(1);
        auto const links = network_options_.make(machine, 0);
        require_topology(links.get());
        Bytes const bytes = parse_bytes(uniform_, "--uniform");
        print_bound(*links, links->uniform_bound(bytes, machine),
                    fmt::format("uniform all-to-all, {} bytes from each node", bytes), {{"uniform_bytes", bytes}});
        return exit_ok;
    }

    static void require_topology(SharedLinks const* links) {
        if (links == nullptr) {
            throw UsageError(fmt::format("time: --bound needs --topology, such as {}", topology_forms));
        }
    }

    void print_bound(SharedLinks const& links, Bound const& bound, std::string const& title,
                     SimulationJson const& context) const {
        nlohmann::ordered_json json{{"schema", "dlmb.bound/1.0"}};
        json.update(context);
        json.update(links.to_json(bound));
        write_output("-", json_ ? json.dump(1) + "\n" : fmt::format("{}\n\n{}", title, links.to_text(bound)));
    }

    /// `program` makes what is to be simulated.
    void answer(Machine const& machine, SharedLinks* links, WorldShape const& world, std::string const& title,
                SimulationJson context, std::function<Program()> const& program) const {
        Simulation const simulation = simulate(program(), machine, links != nullptr ? &links->network() : nullptr);
        std::optional<Prediction> prediction;
        MachineModel const* const model = machine_options_.model();
        if (model != nullptr) {
            context["machine_model"] = {
                {"system", model->system}, {"most_nodes", model->most_nodes}, {"forced", model->forced}};
            prediction = interval_of(*model, simulation, world, links != nullptr, program);
        }
        if (prediction) {
            context["low_ps"] = std::llround(prediction->low_us * picoseconds_per_us);
            context["high_ps"] = std::llround(prediction->high_us * picoseconds_per_us);
        }
        print(simulation, links, title, context);
        if (model != nullptr && !json_) {
            print_origin(*model, prediction, nodes_of(world));
        }
    }

    static int nodes_of(WorldShape const& world) {
        int const each = std::max(1, world.ranks_per_node);
        return (world.ranks + each - 1) / each;
    }

    /// By simulating the same on the machine of each replicate. Nothing: that would take too long.
    std::optional<Prediction> interval_of(MachineModel const& model, Simulation const& simulation,
                                          WorldShape const& world, bool on_links,
                                          std::function<Program()> const& program) const {
        if (simulation.time == 0) {
            return Prediction{};
        }
        std::uint64_t const messages = simulation.messages * (on_links ? cost_of_shared_links : 1);
        if (messages * model.replicates.size() > most_interval_messages) {
            return std::nullopt;
        }
        std::vector<double> times_us;
        for (Coefficients const& replicate : model.replicates) {
            Machine const machine = machine_of(model, replicate.parameters, world.ranks_per_node);
            auto const links = network_options_.make(machine, world.ranks);
            Picoseconds const time = simulate(program(), machine, links ? &links->network() : nullptr).time;
            times_us.push_back(static_cast<double>(time) / picoseconds_per_us);
        }
        double const nodes = nodes_of(world);
        double const octaves =
            std::max({0.0, std::log2(nodes / model.most_nodes), std::log2(model.fewest_nodes / nodes)});
        return with_interval(model, static_cast<double>(simulation.time) / picoseconds_per_us, times_us, octaves,
                             std::pow(factor_deviation, 2));
    }

    static void print_origin(MachineModel const& model, std::optional<Prediction> const& prediction, int nodes) {
        if (prediction) {
            fmt::print("\n90 % interval: {:.3f} to {:.3f} us\n", prediction->low_us, prediction->high_us);
        } else {
            fmt::print("\n90 % interval: not computed, which would take too long\n");
        }
        if (nodes > model.most_nodes) {
            fmt::print("\nExtrapolated from {} to {} nodes, x{:.3g}\n", model.most_nodes, nodes,
                       static_cast<double>(nodes) / model.most_nodes);
        }
    }

    void read_choice() {
        choice_.knobs.segment = segment_.empty() ? 0 : parse_bytes(segment_, "--segment");
        std::vector<std::string> kinds;  // that have algorithms
        for (OperationFacts const& facts : operation_table) {
            if (!algorithms::names_for(facts.kind).empty()) {
                kinds.emplace_back(facts.name);
            }
        }
        for (std::string_view const each : words(algorithms_, ",")) {
            std::size_t const equals = each.find('=');
            auto const kind = operation_kind_named(each.substr(0, equals));
            if (!kind || algorithms::names_for(*kind).empty()) {
                throw UsageError(
                    fmt::format("--algorithm: {}", unknown_name("operation", each.substr(0, equals), kinds)));
            }
            if (equals == std::string_view::npos) {
                throw UsageError(fmt::format("--algorithm: write {}=NAME", each));
            }
            choice_.algorithms[*kind] = each.substr(equals + 1);
        }
    }

    void print(Simulation const& simulation, SharedLinks const* links, std::string const& title,
               SimulationJson context) const {
        if (links != nullptr) {
            context["links"] = links->to_json(simulation.time);
        }
        auto const json = to_json(simulation, context, most_pieces_);
        write_output("-", json_ ? json.dump(1) + "\n"
                                : to_text(json, title) + (links != nullptr ? links->to_text(simulation.time) : ""));
    }

    std::string plans_;
    std::string goal_;
    MachineOptions machine_options_;
    std::string algorithms_;
    std::string segment_;
    LoweringChoice choice_;
    NetworkOptions network_options_;
    bool json_ = false;
    std::size_t most_pieces_ = 20;
    bool bound_ = false;
    std::string uniform_;
};

}  // namespace

void add_time(CLI::App& program, int& exit_code) {
    add_command<Time>(program, "time", "Simulate plans, or a schedule, on a machine", exit_code);
}

}  // namespace dlmb::predict::commands
