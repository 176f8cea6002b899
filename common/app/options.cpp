// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/options.hpp"

#include "common/app/nccl_cli.hpp"
#include "common/app/printouts.hpp"
#include "common/base/error.hpp"
#include "common/base/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace dlmb::app {
namespace {

constexpr double nanoseconds_per_second = 1e9;

/// What CLI11 writes into; turned into Options once parsing succeeded.
struct Raw {
    std::vector<std::string> methods{"default"};
    std::vector<std::string> memory{"host"};
    std::string validation = "on";
    std::string mode = "isolated";
    std::string layout = "dlmb";
    std::string plan;
    std::string results;
    double time_limit_seconds = 10;
    double timeout_seconds = 60;
    std::uint64_t iterations = 0;
    std::uint64_t warmup = 0;
    int ranks_per_node = 0;
    bool list_presets = false;
    bool version = false;
};

void add_traffic_options(CLI::App& app, PatternType const& type, Options& options, Raw& raw) {
    std::string const group = "Traffic (a list runs a sweep)";
    app.add_option("--preset", options.presets, "published model parameters, a comma-separated list")
        ->delimiter(',')
        ->group(group);
    app.add_flag("--list-presets", raw.list_presets, "print the presets with their sources and exit")->group(group);
    for (ParameterInfo const& parameter : type.parameters) {
        app.add_option_function<std::vector<std::string>>(
               fmt::format("--{}", parameter.name),
               [&options, name = std::string(parameter.name)](std::vector<std::string> const& values) {
                   options.parameters[name] = values;
               },
               fmt::format("{} [{}]", parameter.help, parameter.value))
            ->delimiter(',')
            ->type_name("LIST")
            ->group(group);
    }
    app.add_option("--seed", options.seed, "seed of every random choice of the traffic")
        ->capture_default_str()
        ->group(group);
    app.add_option("--draws", options.draws, "routings compiled ahead; iteration i uses draw i mod K")
        ->check(CLI::Range(1U, 1024U))
        ->capture_default_str()
        ->group(group);
}

void add_transport_options(CLI::App& app, Options& options, Raw& raw) {
    std::string const group = "Transport";
    app.add_option("--backend", options.backends, "mpi, nccl, ucx, in_process [all usable here]")
        ->delimiter(',')
        ->group(group);
    app.add_option("--method", raw.methods, "methods as NAME or NAME:KNOB=VALUE, or all (dlmb_info lists them)")
        ->delimiter(',')
        ->capture_default_str()
        ->group(group);
    app.add_option("-d,--memory", raw.memory, "host, pinned, cuda, managed")
        ->delimiter(',')
        ->capture_default_str()
        ->group(group);
}

void add_measuring_options(CLI::App& app, Options& options, Raw& raw) {
    std::string const group = "Measuring";
    app.add_option("-i,--iterations", raw.iterations, "timed iterations per cell [adaptive]")
        ->check(CLI::PositiveNumber)
        ->group(group);
    app.add_option("-x,--warmup", raw.warmup, "warm-up iterations per cell [adaptive]")
        ->check(CLI::NonNegativeNumber)
        ->group(group);
    app.add_option("--time-limit", raw.time_limit_seconds, "seconds of timed iterations per cell")
        ->check(CLI::PositiveNumber)
        ->capture_default_str()
        ->group(group);
    app.add_option("--mode", raw.mode, "isolated: synchronised start per iteration; stream: back to back")
        ->check(CLI::IsMember({"isolated", "stream"}))
        ->capture_default_str()
        ->group(group);
    app.add_option("-c,--validation", raw.validation, "check every byte before and after timing: on or off")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str()
        ->group(group);
    app.add_option("--timeout", raw.timeout_seconds, "seconds without progress in a cell until the launch is ended")
        ->check(CLI::PositiveNumber)
        ->capture_default_str()
        ->group(group);
    app.add_option("--ranks", options.ranks,
                   "ranks as threads when started without a launcher, and the world of --plan")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str()
        ->group(group);
    app.add_option("--ranks-per-node", raw.ranks_per_node, "plan as if nodes had this many ranks [from the hosts]")
        ->check(CLI::Range(1, 1 << 20))
        ->group(group);
}

void add_output_options(CLI::App& app, Options& options, Raw& raw) {
    std::string const group = "Output";
    app.add_option("--results", raw.results, "append the results to this JSON Lines file")->group(group);
    app.add_flag("--resume", options.resume, "skip cells that the results file already holds as ok")->group(group);
    app.add_option("--campaign", options.campaign, "name that joins several launches in the results")->group(group);
    app.add_option("--plan", raw.plan, "print the plans of all ranks as text, json or goal, and stop")
        ->check(CLI::IsMember({"text", "json", "goal"}))
        ->group(group);
    app.add_option("--layout", raw.layout, "human table: dlmb, osu or nccl (times in us, bandwidth in 10^9 B/s)")
        ->check(CLI::IsMember({"dlmb", "osu", "nccl"}))
        ->capture_default_str()
        ->group(group);
    app.add_flag("--version", raw.version, "print version and git revision and exit")->group(group);
}

MemoryKind memory_kind(std::string const& name) {
    std::vector<std::string> known;
    for (MemoryKind const kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::cuda, MemoryKind::managed}) {
        if (name_of(kind) == name) {
            return kind;
        }
        known.emplace_back(name_of(kind));
    }
    throw UsageError(fmt::format("--memory: {}", unknown_name("memory kind", name, known)));
}

void take_over(Raw const& raw, CLI::App const& app, Options& options) {
    for (std::string const& name : raw.memory) {
        options.memory.push_back(memory_kind(name));
    }
    for (std::string const& method : raw.methods) {
        options.all_methods = options.all_methods || method == "all";
        options.methods.push_back(parse_method(method));
    }
    options.layout = raw.layout == "osu" ? Layout::osu : raw.layout == "nccl" ? Layout::nccl : Layout::dlmb;
    if (!raw.plan.empty()) {
        options.plan = raw.plan == "text" ? PlanFormat::text : raw.plan == "json" ? PlanFormat::json : PlanFormat::goal;
    }
    if (!raw.results.empty()) {
        options.results = raw.results;
    }
    if (options.resume && !options.results) {
        throw UsageError("--resume: needs --results FILE, the file whose finished cells are skipped");
    }
    if (raw.ranks_per_node > 0) {
        options.ranks_per_node = raw.ranks_per_node;
    }
    if (app.count("--iterations") > 0) {
        options.runner.iterations = raw.iterations;
    }
    if (app.count("--warmup") > 0) {
        options.runner.warmup = raw.warmup;
    }
    options.runner.mode = raw.mode == "stream" ? measure::Mode::stream : measure::Mode::isolated;
    options.runner.validate = raw.validation == "on";
    options.runner.time_limit_ns = static_cast<Nanoseconds>(raw.time_limit_seconds * nanoseconds_per_second);
    options.runner.timeout_ns = static_cast<Nanoseconds>(raw.timeout_seconds * nanoseconds_per_second);
    options.runner.order_seed = options.seed;
}

std::string with_nearest_option(CLI::App const& app, CLI::ParseError const& error) {
    std::string text = error.what();
    if (dynamic_cast<CLI::ExtrasError const*>(&error) == nullptr) {
        return text;
    }
    std::vector<std::string> known;
    for (CLI::Option const* option : app.get_options()) {
        known.push_back(option->get_name());
    }
    std::vector<std::string> const unknown = app.remaining();
    return unknown.empty() ? text : unknown_name("option", unknown.front(), known) + "; --help lists all";
}

}  // namespace

std::variant<Options, Printout> parse_options(PatternType const& type, std::vector<std::string> const& arguments) {
    Options options;
    options.command = arguments;
    Raw raw;
    CLI::App app{std::string(type.summary), fmt::format("dlmb_{}", type.name)};
    app.option_defaults()->always_capture_default(false);
    add_traffic_options(app, type, options, raw);
    add_transport_options(app, options, raw);
    add_measuring_options(app, options, raw);
    add_output_options(app, options, raw);
    app.footer(
        "Start several ranks with mpirun or srun; without one, --ranks N runs them as threads (in_process).\n"
        "First option '--cli nccl': short letters are those of nccl-tests (-n -w -c -T).\n"
        "Exit: 0 all ran and validated, 1 a cell failed, 64 bad usage, 74 results not written, 77 nothing could run.");
    std::vector<std::string> reversed = without_nccl_letters({arguments.begin() + 1, arguments.end()});
    std::reverse(reversed.begin(), reversed.end());  // CLI11 parses a vector from its back
    try {
        app.parse(std::move(reversed));
    } catch (CLI::CallForHelp const&) {
        return Printout{app.help()};
    } catch (CLI::ParseError const& error) {
        throw UsageError(with_nearest_option(app, error));
    }
    if (raw.version) {
        return Printout{version_text(app.get_name())};
    }
    if (raw.list_presets) {
        return Printout{preset_table(type)};
    }
    take_over(raw, app, options);
    return options;
}

}  // namespace dlmb::app
