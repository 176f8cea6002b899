// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// dlmb_predict time PATTERN [options of dlmb_PATTERN] --machine MODEL | --latency NS ...: simulates the plans of all
// ranks. dlmb_predict time --goal FILE ...: simulates a schedule.
#include "common/base/command_line/exit_codes.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/input_file.hpp"
#include "common/base/output_file.hpp"
#include "common/base/units.hpp"
#include "common/run/options/options.hpp"
#include "common/run/printouts.hpp"
#include "common/tools/predict/commands/network_options.hpp"
#include "common/tools/predict/commands/run_predict.hpp"
#include "common/tools/predict/commands/simulation_text.hpp"
#include "common/tools/predict/machine_model.hpp"
#include "common/tools/predict/simulator/from_model.hpp"
#include "common/tools/predict/simulator/lower.hpp"
#include "common/tools/predict/simulator/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace dlmb::predict::commands {
namespace {

using namespace dlmb::predict;

constexpr double picoseconds_per_ns = 1e3;
constexpr double femtoseconds_per_ns = 1e6;
constexpr std::uint64_t most_interval_messages = 50'000'000;  // of all replicates: some ten seconds
constexpr std::uint64_t cost_of_shared_links = 25;            // simulating a message takes as long as so many without

/// A parameter of LogGOPS as it is given: "2000", or by level "node=300,system=2000".
struct LevelOption {
    char const* name;
    char const* help;
    double factor;  // from ns to the unit of the field
    std::int64_t LogGopsParameters::*field;
    std::string text{};
};

class Time {
public:
    void add_options(CLI::App& parser) {
        parser_ = &parser;
        parser.allow_extras();
        parser.add_option("PATTERN", pattern_,
                          "what follows PATTERN and is not listed here are options of dlmb_PATTERN");
        parser.add_option("--goal", goal_, "simulate this schedule (GOAL text, in ns) instead of a pattern");
        parser.add_option("--machine", machine_, "machine model of dlmb_predict fit, instead of the parameters below");
        for (LevelOption& option : level_options_) {
            parser.add_option(option.name, option.text, option.help);
        }
        parser.add_option("--eager-limit", eager_limit_,
                          "sends of more bytes end only when they are received [none: no send waits]");
        parser.add_option("--reduce-per-byte", reduce_, "ns to reduce a byte")->capture_default_str();
        parser.add_option("--copy-per-byte", copy_, "ns to copy a byte inside a rank")->capture_default_str();
        parser.add_option("--call", call_, "ns when a collective or an exchange begins, and when a Recv ends")
            ->capture_default_str();
        for (auto const& [level, ranks] : {std::pair{"numa", &ranks_per_numa_}, std::pair{"socket", &ranks_per_socket_},
                                           std::pair{"group", &ranks_per_group_}}) {
            parser.add_option(fmt::format("--ranks-per-{}", level), *ranks, "ranks of such a domain; 0: there is none")
                ->check(CLI::NonNegativeNumber)
                ->capture_default_str();
        }
        parser
            .add_option("--processors-per-node", processors_per_node_,
                        "processors of a node; more ranks than these take turns; 0: each rank has one")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str();
        parser.add_option("--algorithm", algorithms_,
                          "algorithms by operation, as allreduce=ring,exchange=pairwise [auto, exchange=linear]");
        parser.add_option("--radix", choice_.knobs.radix, "of the algorithm knomial")->check(CLI::Range(2, 1 << 20));
        parser.add_option("--segment", segment_, "size of the pieces of ring and chain");
        parser.add_option("--outstanding", choice_.outstanding, "exchange=pairwise: sends and receives at once")
            ->check(CLI::PositiveNumber)
            ->capture_default_str();
        network_options_.add(parser);
        parser.add_flag("--json", json_, "print one JSON object, all times in ps");
        parser.add_option("--path", most_pieces_, "print so many pieces of the critical path")
            ->check(CLI::Range(0, 1 << 30))
            ->capture_default_str();
        parser.add_flag("--force", force_, "answer also where the held-out error of --machine is above 40 %");
    }

    int run() {
        read_choice();
        if (goal_.empty() == pattern_.empty()) {
            throw UsageError("time: give either a pattern or --goal FILE");
        }
        return goal_.empty() ? run_pattern() : run_goal();
    }

private:
    int run_goal() {
        if (std::vector<std::string> const more = parser_->remaining(); !more.empty()) {
            throw UsageError(fmt::format("time --goal: '{}' is no option of it", more.front()));
        }
        Program const schedule = read_goal(read_document(goal_), goal_);
        int const ranks = schedule.ranks();
        WorldShape const world{ranks, 0};
        Machine const machine = machine_for(world);
        if (model_ && refuses(OperationKind::send)) {
            return exit_unavailable;
        }
        auto const links = network_options_.make(machine, ranks);
        answer(machine, links.get(), world, fmt::format("{}: {} ranks", goal_, ranks),
               {{"goal", goal_}, {"ranks", ranks}}, [&] { return Program(schedule); });
        return exit_ok;
    }

    int run_pattern() {
        PatternType const& type = pattern_named(pattern_);
        std::vector<std::string> arguments{fmt::format("dlmb_{}", pattern_)};
        for (std::string const& each : parser_->remaining()) {
            arguments.push_back(each);
        }
        auto const parsed = run::parse_options(type, arguments);
        if (auto const* text = std::get_if<run::Printout>(&parsed)) {
            write_output("-", text->text);
            return exit_ok;
        }
        auto const& options = std::get<run::Options>(parsed);
        if (options.plan) {
            throw UsageError(fmt::format("time: --plan prints plans; it is an option of dlmb_{}", pattern_));
        }
        run::PlannedPoint const planned = run::planned_point(type, options, "time");
        Machine const machine = machine_for(planned.world);
        if (model_ && refuses(*planned.pattern)) {
            return exit_unavailable;
        }
        std::string const title =
            fmt::format("{} {}{}{} ranks, {} per node", pattern_, planned.point.title,
                        planned.point.title.empty() ? "" : ": ", planned.world.ranks, planned.world.ranks_per_node);
        int const domain = std::max(
            {1, machine.ranks_per_numa, machine.ranks_per_socket, machine.ranks_per_node, machine.ranks_per_group});
        auto const links = network_options_.make(machine, planned.world.ranks);
        // Ranks that are alike are not so on links.
        int const period = links ? planned.world.ranks : period_of(planned.plans, choice_, domain);
        answer(machine, links.get(), planned.world, title,
               {{"pattern", pattern_},
                {"preset", planned.point.preset},
                {"parameters", planned.point.parameters},
                {"ranks", planned.world.ranks},
                {"ranks_per_node", planned.world.ranks_per_node},
                {"seed", planned.draw.seed}},
               [&] { return lower(planned.plans, choice_, period); });
        return exit_ok;
    }

    /// `program` makes what is to be simulated.
    void answer(Machine const& machine, SharedLinks* links, WorldShape const& world, std::string const& title,
                SimulationContext context, std::function<Program()> const& program) const {
        Simulation const simulation = simulate(program(), machine, links != nullptr ? &links->network() : nullptr);
        std::optional<Prediction> prediction;
        if (model_) {
            context["machine_model"] = {
                {"system", model_->system}, {"most_nodes", model_->most_nodes}, {"forced", force_ || model_->forced}};
            prediction = interval_of(simulation, world, links != nullptr, program);
        }
        if (prediction) {
            context["low_ps"] = std::llround(prediction->low_us * picoseconds_per_us);
            context["high_ps"] = std::llround(prediction->high_us * picoseconds_per_us);
        }
        print(simulation, links, title, context);
        if (model_ && !json_) {
            print_origin(prediction, nodes_of(world));
        }
    }

    static int nodes_of(WorldShape const& world) {
        int const each = std::max(1, world.ranks_per_node);
        return (world.ranks + each - 1) / each;
    }

    /// By simulating the same on the machine of each replicate. Nothing: that would take too long.
    std::optional<Prediction> interval_of(Simulation const& simulation, WorldShape const& world, bool on_links,
                                          std::function<Program()> const& program) const {
        if (simulation.time == 0) {
            return Prediction{};
        }
        std::uint64_t const messages = simulation.messages * (on_links ? cost_of_shared_links : 1);
        if (messages * model_->replicates.size() > most_interval_messages) {
            return std::nullopt;
        }
        std::vector<double> times_us;
        for (Coefficients const& replicate : model_->replicates) {
            Machine const machine = machine_of(*model_, replicate.parameters, world.ranks_per_node);
            auto const links = network_options_.make(machine, world.ranks);
            Picoseconds const time = simulate(program(), machine, links ? &links->network() : nullptr).time;
            times_us.push_back(static_cast<double>(time) / picoseconds_per_us);
        }
        double const nodes = nodes_of(world);
        double const octaves =
            std::max({0.0, std::log2(nodes / model_->most_nodes), std::log2(model_->fewest_nodes / nodes)});
        return with_interval(*model_, static_cast<double>(simulation.time) / picoseconds_per_us, times_us, octaves,
                             std::pow(factor_deviation, 2));
    }

    void print_origin(std::optional<Prediction> const& prediction, int nodes) const {
        if (prediction) {
            fmt::print("\n90 % interval: {:.3f} to {:.3f} us\n", prediction->low_us, prediction->high_us);
        } else {
            fmt::print("\n90 % interval: not computed, which would take too long\n");
        }
        if (nodes > model_->most_nodes) {
            fmt::print("\nExtrapolated from {} to {} nodes, x{:.3g}\n", model_->most_nodes, nodes,
                       static_cast<double>(nodes) / model_->most_nodes);
        }
    }

    void read_choice() {
        choice_.knobs.segment = segment_.empty() ? 0 : parse_bytes(segment_, "--segment");
        for (std::string_view const each : words(algorithms_, ",")) {
            std::size_t const equals = each.find('=');
            std::optional<OperationKind> kind;
            std::vector<std::string> kinds;
            for (std::size_t number = 0; number < std::variant_size_v<Operation>; ++number) {
                auto const known = static_cast<OperationKind>(number);
                bool const together =
                    known != OperationKind::send && known != OperationKind::recv && known != OperationKind::compute;
                if (together && each.substr(0, equals) == name_of(known)) {
                    kind = known;
                }
                if (together) {
                    kinds.emplace_back(name_of(known));
                }
            }
            if (!kind) {
                throw UsageError(
                    fmt::format("--algorithm: {}", unknown_name("operation", each.substr(0, equals), kinds)));
            }
            if (equals == std::string_view::npos) {
                throw UsageError(fmt::format("--algorithm: write {}=NAME", each));
            }
            choice_.algorithms[*kind] = each.substr(equals + 1);
        }
    }

    Machine machine_for(WorldShape const& world) {
        bool const given = std::any_of(level_options_.begin(), level_options_.end(),
                                       [](LevelOption const& option) { return !option.text.empty(); });
        if (!machine_.empty()) {
            if (given || !eager_limit_.empty() || reduce_ != 0 || copy_ != 0 || call_ != 0 || ranks_per_numa_ != 0 ||
                ranks_per_socket_ != 0 || ranks_per_group_ != 0 || processors_per_node_ != 0) {
                throw UsageError("time: --machine and --latency, --eager-limit ... both say what messages cost");
            }
            model_ = read_model(read_document(machine_), machine_);
            return machine_of(*model_, model_->best.parameters, world.ranks_per_node);
        }
        if (!given) {
            throw UsageError("time: say what messages cost: --machine MODEL, or --latency, --overhead, --gap, "
                             "--gap-per-byte");
        }
        Machine machine = uniform_machine({});
        for (LevelOption const& option : level_options_) {
            read_levels(option, machine);
        }
        machine.ranks_per_numa = ranks_per_numa_;
        machine.ranks_per_socket = ranks_per_socket_;
        machine.ranks_per_node = world.ranks_per_node;
        machine.ranks_per_group = ranks_per_group_;
        machine.processors_per_node = processors_per_node_;
        if (!eager_limit_.empty()) {
            machine.eager_limit = parse_bytes(eager_limit_, "--eager-limit");
        }
        machine.reduce_per_byte = rounded("--reduce-per-byte", reduce_, femtoseconds_per_ns);
        machine.copy_per_byte = rounded("--copy-per-byte", copy_, femtoseconds_per_ns);
        machine.call = rounded("--call", call_, picoseconds_per_ns);
        return machine;
    }

    /// A level that is not named has the value of the next farther one, or of the nearest one that is.
    static void read_levels(LevelOption const& option, Machine& machine) {
        std::array<std::optional<double>, level_names.size()> values;
        for (std::string_view const each : words(option.text, ",")) {
            std::size_t const equals = each.find('=');
            auto const number = parse_whole<double>(equals == std::string_view::npos ? each : each.substr(equals + 1));
            if (!number) {
                throw UsageError(fmt::format("{} {}: expected NS, or LEVEL=NS,LEVEL=NS with the levels {}", option.name,
                                             option.text, fmt::join(level_names, ", ")));
            }
            if (equals == std::string_view::npos) {
                values.fill(*number);
                continue;
            }
            auto const level = std::find(level_names.begin(), level_names.end(), each.substr(0, equals));
            if (level == level_names.end()) {
                std::vector<std::string> const names(level_names.begin(), level_names.end());
                throw UsageError(
                    fmt::format("{}: {}", option.name, unknown_name("level", each.substr(0, equals), names)));
            }
            auto const place = static_cast<std::size_t>(level - level_names.begin());
            if (values.at(place)) {
                throw UsageError(fmt::format("{} {}: level {} stands twice", option.name, option.text, *level));
            }
            values.at(place) = number;
        }
        std::optional<double> next;
        for (std::size_t level = values.size(); level-- > 0;) {
            next = values.at(level) ? values.at(level) : next;
            values.at(level) = next;
        }
        for (std::size_t level = 0; level < values.size(); ++level) {
            double const value = values.at(level).value_or(level > 0 ? values.at(level - 1).value_or(0) : 0);
            values.at(level) = value;
            machine.levels.at(level).front().parameters.*option.field = rounded(option.name, value, option.factor);
        }
    }
    static std::int64_t rounded(char const* name, double value, double factor) {
        constexpr double most = 1e15;
        if (!(value >= 0 && value * factor <= most)) {
            throw UsageError(fmt::format("{} {}: expected nanoseconds, not negative", name, value));
        }
        return std::llround(value * factor);
    }

    static std::string_view name_in_model(OperationKind kind) {
        switch (kind) {
        case OperationKind::exchange:
            return "alltoall";
        case OperationKind::broadcast:
            return "bcast";
        case OperationKind::send:
        case OperationKind::recv:
            return "sendrecv";
        default:
            return dlmb::name_of(kind);
        }
    }

    /// Whether the model knows that it is wrong about an operation of the pattern.
    bool refuses(Pattern const& pattern) const {
        std::vector<OperationUse> const uses = pattern.operations();
        return std::any_of(uses.begin(), uses.end(), [this](OperationUse const& use) { return refuses(use.kind); });
    }

    bool refuses(OperationKind kind) const {
        std::string_view const in_model = name_in_model(kind);
        auto const collective = collective_of(in_model);
        if (force_ || model_->forced || !collective || !error_is_too_large(*model_, *collective)) {
            return false;
        }
        print_error(fmt::format("dlmb_predict: refused: the held-out error of {} is {:.0f} %; --force answers\n",
                                in_model, 100 * model_->held_out.at(*collective).median));
        return true;
    }

    void print(Simulation const& simulation, SharedLinks const* links, std::string const& title,
               SimulationContext context) const {
        if (!json_) {
            write_output("-", to_text(simulation, title, most_pieces_) +
                                  (links != nullptr ? links->to_text(simulation.time) : ""));
            return;
        }
        if (links != nullptr) {
            context["links"] = links->to_json(simulation.time);
        }
        write_output("-", to_json(simulation, context, most_pieces_).dump(1) + "\n");
    }

    CLI::App* parser_ = nullptr;
    std::string pattern_;
    std::string goal_;
    std::string machine_;
    std::array<LevelOption, 5> level_options_{{
        {"--latency", "L: ns from one rank to another, or by level: node=300,system=2000", picoseconds_per_ns,
         &LogGopsParameters::latency},
        {"--overhead", "o: ns of the processor at each end of a message", picoseconds_per_ns,
         &LogGopsParameters::overhead},
        {"--gap", "g: ns between two messages of a NIC", picoseconds_per_ns, &LogGopsParameters::gap},
        {"--gap-per-byte", "G: ns per byte; 0.04 is 25 GB/s", femtoseconds_per_ns, &LogGopsParameters::gap_per_byte},
        {"--overhead-per-byte", "O: ns of the processor per byte that is sent", femtoseconds_per_ns,
         &LogGopsParameters::overhead_per_byte},
    }};
    std::string eager_limit_;
    double reduce_ = 0;
    double copy_ = 0;
    double call_ = 0;
    int ranks_per_numa_ = 0;
    int ranks_per_socket_ = 0;
    int ranks_per_group_ = 0;
    int processors_per_node_ = 0;
    std::string algorithms_;
    std::string segment_;
    LoweringChoice choice_;
    NetworkOptions network_options_;
    bool json_ = false;
    std::size_t most_pieces_ = 20;
    bool force_ = false;
    std::optional<MachineModel> model_;
};

}  // namespace

void add_time(CLI::App& program, int& exit_code) {
    add_command<Time>(program, "time", "Simulate a pattern's plan, or a schedule, on a machine", exit_code);
}

}  // namespace dlmb::predict::commands
