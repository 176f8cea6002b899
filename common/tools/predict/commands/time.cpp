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
#include "common/base/row_named.hpp"
#include "common/base/units.hpp"
#include "common/formats/plan_file/plan_file.hpp"
#include "common/tools/predict/commands/price_options.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/commands/time_options.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

namespace dlmb::predict::commands {
namespace {

using SimulationJson = nlohmann::ordered_json;

constexpr std::uint64_t most_interval_messages = 50'000'000;  // of 40 replicates together: some ten seconds
constexpr std::uint64_t cost_of_shared_links = 300;           // simulating a message takes as long as so many without

/// The longest pieces, in the order of time.
std::vector<PathPiece> longest(std::vector<PathPiece> const& path, std::size_t most) {
    std::vector<PathPiece> pieces = path;
    if (pieces.size() > most) {
        std::stable_sort(pieces.begin(), pieces.end(), [](PathPiece const& left, PathPiece const& right) {
            return left.end - left.begin > right.end - right.begin;
        });
        pieces.resize(most);
        std::stable_sort(pieces.begin(), pieces.end(),
                         [](PathPiece const& left, PathPiece const& right) { return left.begin < right.begin; });
    }
    return pieces;
}

SimulationJson json_of(PathPiece const& piece, Program const& program) {
    Task const& task = program.tasks[piece.task];
    // The way of a message is told where it arrives.
    Rank const owner = piece.kind == PathPiece::Kind::in_flight ? program.rank_of(piece.task) : piece.rank;
    SimulationJson json{{"what", name_of(piece.kind)},
                        {"rank", piece.rank},
                        {"step", program.label_of(owner, piece.task)},
                        {"begin_ps", piece.begin},
                        {"end_ps", piece.end}};
    if (task.kind == TaskKind::send || task.kind == TaskKind::recv) {
        bool const sends = task.kind == TaskKind::send;
        json["from"] = sends ? owner : task.peer;
        json["to"] = sends ? task.peer : owner;
        json["bytes"] = task.amount;
    }
    return json;
}

/// The mean; sums of many ranks can be beyond 64 bits.
template <class TimeOf>
Picoseconds mean_of(std::size_t ranks, TimeOf const& time_of) {
    double mean = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        mean += static_cast<double>(time_of(rank)) / static_cast<double>(ranks);
    }
    return static_cast<Picoseconds>(mean);
}

/// One object. All times are whole picoseconds. `context`: the simulated traffic, such as "pattern", "preset" and
/// "ranks", and their values. `most_pieces`: so many of the critical path, the longest ones.
SimulationJson to_json(Simulation const& simulation, SimulationJson const& context, std::size_t most_pieces) {
    SimulationJson json{{"schema", "dlmb.simulation/1.0"}};
    json.update(context);
    json["time_ps"] = simulation.time;
    json["messages"] = simulation.messages;
    json["events"] = simulation.events;
    json["phases"] = SimulationJson::array();
    for (PhaseTime const& phase : simulation.phases) {
        json["phases"].push_back({{"name", phase.name}, {"begin_ps", phase.begin}, {"end_ps", phase.end}});
    }
    TimeSplit const& split = simulation.split;
    SimulationJson pieces = SimulationJson::array();
    for (PathPiece const& piece : longest(simulation.path, most_pieces)) {
        pieces.push_back(json_of(piece, simulation.program));
    }
    json["critical_path"] = {{"split",
                              {{"compute_ps", split.compute},
                               {"overhead_ps", split.overhead},
                               {"latency_ps", split.latency},
                               {"bandwidth_ps", split.bandwidth},
                               {"contention_ps", split.contention}}},
                             {"pieces", simulation.path.size()},
                             {"longest", std::move(pieces)}};
    std::vector<Picoseconds> const& ends = simulation.ends;
    json["first_rank"] = std::min_element(ends.begin(), ends.end()) - ends.begin();
    json["last_rank"] = std::max_element(ends.begin(), ends.end()) - ends.begin();
    json["mean_end_ps"] = mean_of(ends.size(), [&](std::size_t rank) { return ends[rank]; });
    // A processor that is done is idle until the last rank ends.
    json["mean_idle_ps"] = mean_of(ends.size(), [&](std::size_t rank) {
        return std::max<Picoseconds>(0, simulation.time - simulation.busy[rank]);
    });
    json["ends_ps"] = ends;
    return json;
}

/// Labels of GOAL and names of files may hold bytes that are no UTF-8, which JSON is.
std::string utf8_of(SimulationJson const& json) {
    return json.dump(1, ' ', false, SimulationJson::error_handler_t::replace) + "\n";
}

/// The object of to_json() as a text for people.
std::string to_text(SimulationJson const& json, std::string const& title) {
    auto const us = [](SimulationJson const& time_ps) { return time_ps.get<double>() / picoseconds_per_us; };
    auto const share = [&json](SimulationJson const& time_ps) {
        auto const whole = json["time_ps"].get<double>();
        return whole == 0 ? 0.0 : 100 * time_ps.get<double>() / whole;
    };
    auto const number = [](SimulationJson const& value) { return value.get<std::uint64_t>(); };
    auto const word = [](SimulationJson const& value) { return value.get<std::string>(); };
    std::string text = fmt::format("{}\n\n{:<14} {:>14.3f} us\n{:<14} {:>14}\n", title, "time", us(json["time_ps"]),
                                   "messages", number(json["messages"]));
    text += fmt::format("{:<14} {:>14.3f} us, rank {} first, rank {} last; processors idle {:.1f} % of the time\n",
                        "mean rank", us(json["mean_end_ps"]), number(json["first_rank"]), number(json["last_rank"]),
                        share(json["mean_idle_ps"]));
    text += "\nphase                  begin us         end us\n";
    for (SimulationJson const& phase : json["phases"]) {
        text += fmt::format("{:<16} {:>14.3f} {:>14.3f}\n", word(phase["name"]), us(phase["begin_ps"]),
                            us(phase["end_ps"]));
    }
    SimulationJson const& path = json["critical_path"];
    text += "\nThe critical path is made of\n";
    for (auto const& [name, time] : path["split"].items()) {
        text += fmt::format("{:<16} {:>14.3f} us {:>6.1f} %\n", name.substr(0, name.find('_')), us(time), share(time));
    }
    SimulationJson const& pieces = path["longest"];
    if (!pieces.empty()) {
        text += fmt::format("\n{} of its {} pieces, the longest:\n{:>14} {:>12}  {:<8} {:<7} {:<24} message\n",
                            pieces.size(), number(path["pieces"]), "begin us", "us", "rank", "what", "step");
    }
    for (SimulationJson const& piece : pieces) {
        auto const takes = piece["end_ps"].get<Picoseconds>() - piece["begin_ps"].get<Picoseconds>();
        text += fmt::format("{:>14.3f} {:>12.3f}  {:<8} {:<7} ", us(piece["begin_ps"]), us(takes),
                            number(piece["rank"]), word(piece["what"]));
        text += piece.contains("from") ? fmt::format("{:<24} {} -> {}, {} B\n", word(piece["step"]),
                                                     number(piece["from"]), number(piece["to"]), number(piece["bytes"]))
                                       : word(piece["step"]) + "\n";
    }
    if (auto const links = json.find("links"); links != json.end()) {
        auto const percent = [&](char const* busy) { return 100 * links->at(busy).get<double>(); };
        text += fmt::format("\nlinks of {}: {:.1f} % busy in the mean; the busiest {:.1f} % with {:.6g} bytes: {}\n",
                            word(links->at("topology")), percent("mean_link_busy"), percent("busiest_link_busy"),
                            links->at("busiest_link_bytes").get<double>(), word(links->at("busiest_link")));
    }
    return text;
}

class Time {
public:
    void add_options(CLI::App& parser) {
        parser.add_option("PLANS", plans_,
                          "plans of all ranks, of --plan jsonl or dlmb_plan import; -: from a pipe, as in "
                          "dlmb_moe_alltoall --preset mixtral-8x7b --ranks 8 --plan jsonl | dlmb_predict time - ...");
        CLI::Option* const goal =
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
        CLI::Option* const bound = parser.add_flag(
            "--bound", bound_,
            "do not simulate: what the plans take at least on the --topology, for its busiest node, its "
            "busiest link or its longest chain of messages");
        CLI::Option* const uniform = parser.add_option(
            "--uniform", uniform_, "of --bound, instead of plans: each node sends so many bytes evenly to all others");
        parser.add_flag("--json", json_, "print one JSON object, all times in ps");
        parser.add_option("--path", most_pieces_, "print so many pieces of the critical path")
            ->check(CLI::Range(0, 1 << 30))
            ->capture_default_str();
        for (char const* const of_plans : {"--algorithm", "--radix", "--segment", "--outstanding"}) {
            parser.get_option(of_plans)->excludes(goal)->excludes(uniform);
        }
        for (char const* const of_ranks : {"--placement", "--placement-seed"}) {
            parser.get_option(of_ranks)->excludes(uniform);
        }
        for (char const* const of_simulations : {"--hop", "--rate-tolerance", "--path"}) {
            parser.get_option(of_simulations)->excludes(bound);
        }
    }

    int run() {
        read_choice();
        int const given = (goal_.empty() ? 0 : 1) + (plans_.empty() ? 0 : 1) + (uniform_.empty() ? 0 : 1);
        if (given != 1 || (bound_ && !goal_.empty()) || (!bound_ && !uniform_.empty())) {
            throw UsageError("time: give either PLANS or --goal FILE; with --bound PLANS or --uniform BYTES");
        }
        return unless_refused([&] {
            return !uniform_.empty() ? run_uniform() : goal_.empty() ? run_plans() : run_goal();
        });
    }

private:
    int run_goal() {
        Program const schedule = read_goal(read_document(goal_), goal_);
        int const ranks = schedule.ranks();
        WorldShape const world{ranks, 0};
        Machine const machine = machine_options_.machine(0, ranks);
        machine_options_.require(OperationKind::send, ranks);
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
        Machine const machine = machine_options_.machine(file.world.ranks_per_node, nodes_of(file.world));
        std::set<OperationKind> kinds;
        for (Plan const& plan : read.plans) {
            for (Step const& step : plan.steps) {
                kinds.insert(kind_of(step.operation));
            }
        }
        for (OperationKind const kind : kinds) {
            machine_options_.require(kind, nodes_of(file.world));
        }
        std::string const title =
            fmt::format("{}{}{}: {} ranks, {} per node", file.pattern, file.preset.empty() ? "" : " ", file.preset,
                        file.world.ranks, file.world.ranks_per_node);
        auto const links = network_options_.make(machine, file.world.ranks, bound_);
        SimulationJson const context{{"pattern", file.pattern},
                                     {"preset", file.preset},
                                     {"parameters", file.parameters},
                                     {"ranks", file.world.ranks},
                                     {"ranks_per_node", file.world.ranks_per_node},
                                     {"seed", file.draw.seed}};
        if (bound_) {
            print_bound(*links, links->bound(plans, choice_, machine), title, context);
            return exit_ok;
        }
        // Ranks that are alike are not so on links.
        int const period = links ? file.world.ranks : period_of(plans, choice_, std::max(1, machine.ranks_per_node));
        answer(machine, links.get(), file.world, title, context, [&] { return lower(plans, choice_, period); });
        return exit_ok;
    }

    int run_uniform() {
        Machine const machine = machine_options_.machine(1, 1);
        auto const links = network_options_.make(machine, 0, bound_);
        machine_options_.require(OperationKind::exchange, links->nodes());
        Bytes const bytes = parse_bytes(uniform_, "--uniform");
        print_bound(*links, links->uniform_bound(bytes, machine),
                    fmt::format("uniform all-to-all, {} bytes from each node", bytes), {{"uniform_bytes", bytes}});
        return exit_ok;
    }

    void print_bound(SharedLinks const& links, Bound const& bound, std::string const& title,
                     SimulationJson const& context) const {
        nlohmann::ordered_json json{{"schema", "dlmb.bound/1.0"}};
        json.update(context);
        json.update(links.to_json(bound));
        write_output("-", json_ ? utf8_of(json) : fmt::format("{}\n\n{}", title, links.to_text(bound)));
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
        if (links != nullptr) {
            context["links"] = links->to_json(simulation.time);
        }
        auto const json = to_json(simulation, context, most_pieces_);
        std::string const interval = model == nullptr ? "" : interval_text(prediction);
        write_output("-", json_ ? utf8_of(json) : to_text(json, title) + interval);
        if (model != nullptr) {
            print_error(notes(*model, nodes_of(world), simulation.program, links != nullptr));
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
            Machine const machine = machine_of(model, replicate.parameters, world.ranks_per_node, nodes_of(world));
            auto const links = network_options_.make(machine, world.ranks);
            Picoseconds const time = simulate(program(), machine, links ? &links->network() : nullptr).time;
            times_us.push_back(static_cast<double>(time) / picoseconds_per_us);
        }
        Measurement unfitted;
        unfitted.topology.shape = {nodes_of(world)};
        return with_interval(model, static_cast<double>(simulation.time) / picoseconds_per_us, times_us,
                             octaves_beyond(model, unfitted), std::pow(factor_deviation, 2));
    }

    static std::string interval_text(std::optional<Prediction> const& prediction) {
        return prediction
                   ? fmt::format("\n90 % interval: {:.3f} to {:.3f} us\n", prediction->low_us, prediction->high_us)
                   : "\n90 % interval: not computed, which would take too long\n";
    }

    static std::string notes(MachineModel const& model, int nodes, Program const& program, bool on_links) {
        std::string text = extrapolation_note(model, nodes);
        Bytes largest = 0;
        for (Task const& task : program.tasks) {
            largest = task.kind == TaskKind::send ? std::max(largest, task.amount) : largest;
        }
        if (static_cast<double>(largest) > model.most_bytes) {
            text +=
                fmt::format("dlmb_predict: note: messages have up to {} bytes, vectors of up to {:.0f} were fitted\n",
                            largest, model.most_bytes);
        }
        if (model.kind == TopologyKind::torus && !on_links) {
            text += "dlmb_predict: note: links of the torus cost nothing without --topology and --hop\n";
        }
        return text;
    }

    void read_choice() {
        choice_.knobs.segment = segment_.empty() ? 0 : parse_bytes(segment_, "--segment");
        std::vector<OperationFacts> known;
        std::copy_if(operation_table.begin(), operation_table.end(), std::back_inserter(known),
                     [](OperationFacts const& facts) { return !algorithms::names_for(facts.kind).empty(); });
        for (std::string_view const each : words(algorithms_, ",")) {
            std::size_t const equals = std::min(each.find('='), each.size());
            OperationKind const kind = row_named(known, each.substr(0, equals), "operation", "--algorithm: ").kind;
            if (equals == each.size()) {
                throw UsageError(fmt::format("--algorithm: write {}=NAME", each));
            }
            choice_.algorithms[kind] = each.substr(equals + 1);
        }
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
