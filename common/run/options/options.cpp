// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// The options of the programs that measure, a function per group of --help.
#include "common/run/options/options.hpp"

#include "common/base/command_line/number_checks.hpp"
#include "common/base/command_line/subcommands.hpp"
#include "common/base/error.hpp"
#include "common/base/names/names.hpp"
#include "common/base/units.hpp"
#include "common/run/printouts.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <utility>

namespace dlmb::run {
namespace {

constexpr char const* footer =
    "Start several ranks with mpirun or srun; without one, --ranks N runs them as threads (in_process).\n"
    "First option '--cli osu' or '--cli nccl': options are those of OSU Micro-Benchmarks or nccl-tests, and a "
    "program's\n"
    "name (osu_bcast, all_reduce_perf) is the operation.\n"
    "Exit: 0 all ran and validated, 1 a cell failed, 64 bad usage, 74 results not written, 77 nothing could run.";

/// Values that CLI11 reads and that are not yet those of Options.
struct Texts {
    bool list_presets = false;
    bool version = false;
    std::vector<std::string> methods{"default"};
    std::vector<std::string> memory{"host"};
    std::vector<std::string> loads{"none"};
    std::string mpi_device = "auto";
    std::string nccl_comm;
    std::string use_table;
    std::string beside_backend;
    std::string model;
    std::string parallel;
    std::string buffer_limit;
    double drop_slower = 2;
    bool reproducible = false;
};

/// Options that stand under one heading of --help.
class OptionGroup {
public:
    OptionGroup(CLI::App& app, char const* heading) : app_(app), heading_(heading) {}

    template <class Value>
    CLI::Option* add(std::string const& names, Value& value, std::string const& help) {
        return app_.add_option(names, value, help)->group(heading_);
    }
    template <class Value>
    CLI::Option* with_default(std::string const& names, Value& value, std::string const& help) {
        return add(names, value, help)->capture_default_str();
    }
    CLI::Option* list(std::string const& names, std::vector<std::string>& values, std::string const& help) {
        return add(names, values, help)->delimiter(',');
    }
    void flag(std::string const& name, bool& value, std::string const& help) {
        // CLI11 takes --resume=no, and any number.
        auto const check = [](std::string const& given) -> std::string {
            return given == "true" ? "" : "takes no value";
        };
        app_.add_flag(name, value, help)->group(heading_)->check(check);
    }
    /// `take` is called with what is given.
    template <class Value, class Take>
    CLI::Option* given(std::string const& names, Take take, std::string const& help) {
        return app_.add_option_function<Value>(names, std::move(take), help)->group(heading_);
    }
    void path(std::string const& name, std::optional<std::filesystem::path>& value, std::string const& help) {
        given<std::string>(
            name, [&value](std::string const& text) { value = text; }, help);
    }
    /// One of a few names, each of which means a value.
    template <class Value>
    void choice(std::string const& names, Value& value, std::vector<std::pair<std::string, Value>> const& choices,
                std::string const& help) {
        std::vector<std::string> known;
        std::string standard;
        for (auto const& [name, meaning] : choices) {
            known.push_back(name);
            standard = meaning == value ? name : standard;
        }
        auto const take = [&value, choices](std::string const& given) {
            value = std::find_if(choices.begin(), choices.end(), [&](auto const& each) {
                        return each.first == given;
                    })->second;
        };
        given<std::string>(names, take, help)->check(CLI::IsMember(known))->default_str(standard);
    }
    /// One of the values that name_of() names.
    template <class Values, class Value>
    void named(std::string const& names, Value& value, Values const& all, std::string const& help) {
        std::vector<std::pair<std::string, Value>> choices;
        for (Value const each : all) {
            choices.emplace_back(name_of(each), each);
        }
        choice(names, value, choices, help);
    }
    /// Limits that a message can show; CLI11's own for positive numbers ends with 309 digits.
    void seconds(std::string const& name, Nanoseconds& value, std::string const& help) {
        constexpr double nanoseconds_per_second = 1e9;
        auto const take = [&value](double seconds) {
            value = static_cast<Nanoseconds>(seconds * nanoseconds_per_second);
        };
        given<double>(name, take, help)
            ->check(number_check(1e-6, 1e9))
            ->default_str(fmt::format("{}", static_cast<double>(value) / nanoseconds_per_second));
    }

private:
    CLI::App& app_;
    char const* heading_;
};

void add_parameter(OptionGroup& group, ParameterInfo const& parameter, Options& options) {
    if (parameter.name == "cli") {  // read before CLI11 reads the rest
        throw CLI::OptionAlreadyAdded(std::string(parameter.name));
    }
    bool const is_switch = parameter.value == "off" || parameter.value == "on";
    auto const store = [&options, is_switch, name = std::string(parameter.name)](std::vector<std::string> values) {
        for (std::string& value : values) {
            value = is_switch && value.empty() ? "on" : std::string(without_blanks_around(value));
        }
        options.parameters[name] = std::move(values);
    };
    char const* const letter = parameter.name == "message-size" ? "-m," : "";  // OSU's
    CLI::Option* const option =
        group
            .given<std::vector<std::string>>(fmt::format("{}--{}", letter, parameter.name), store,
                                             fmt::format("{} [{}]", parameter.help, parameter.value))
            ->type_name(parameter.kind == ParameterKind::sizes ? "SIZES" : "LIST");
    option->delimiter(',');
    if (is_switch) {
        option->expected(0, CLI::detail::expected_max_vector_size);  // "--in-place" alone means on, as OSU writes it
    }
}

void add_traffic(CLI::App& app, PatternType const& type, Options& options, Texts& texts) {
    OptionGroup group(app, "Traffic (a list runs a sweep)");
    group.list("--preset", options.presets, "published model parameters, a comma-separated list");
    group.flag("--list-presets", texts.list_presets, "print the presets with their sources and exit");
    if (type.of_model != nullptr) {
        auto const& own = type.parameters;
        if (std::none_of(own.begin(), own.end(), [](ParameterInfo const& each) { return each.name == "model"; })) {
            group.add(
                "--model", texts.model,
                "config.json of a model (Hugging Face; of DLRM its arguments as JSON), which parameters follow from");
        }
        group.add("--parallel", texts.parallel, "ranks that divide the model, for example tp=8,pp=4,ep=8,cp=2,dp=4");
    }
    for (ParameterInfo const& parameter : type.parameters) {
        add_parameter(group, parameter, options);
    }
    group.with_default("--seed", options.seed, "seed of every random choice of the traffic")->check(whole_number_check);
    group.with_default("--draws", options.draws, "routings compiled ahead; iteration i uses draw i mod K")
        ->check(CLI::Range(1U, 1024U));
}

void add_transport(CLI::App& app, PatternType const& type, Options& options, Texts& texts) {
    OptionGroup group(app, "Transport");
    group.list("--backend", options.backends, fmt::format("{} [all usable here]", fmt::join(backend_names(), ", ")));
    group.list("--method", texts.methods, "methods as NAME or NAME:KNOB=VALUE, or all (dlmb_info lists them)")
        ->capture_default_str();
    if (type.reads_plans) {
        group.add("--beside-backend", texts.beside_backend,
                  "BACKEND or BACKEND/METHOD of what dlmb_plan overlay put beside the plan [the backend of the rest]");
    }
    group.list("-d,--memory", texts.memory, "host, pinned, cuda, managed, nccl, ucx")->capture_default_str();
    group.flag("--shared-gpu", options.shared_gpu, "several ranks on one GPU (nccl): shows correctness, not speed");
    group.add("--nccl-comm", texts.nccl_comm,
              "blocking or nonblocking: how calls on NCCL's communicators return [as NCCL_COMM_BLOCKING says, else "
              "blocking]");
    group
        .add("--device", options.devices,
             "GPUs, as CUDA counts them, that the ranks of a node take in turn [the nearest to each rank]")
        ->delimiter(',')
        ->check(CLI::Range(0, 1023));
    group.with_default("--mpi-device", texts.mpi_device,
                       "yes, no, auto: whether MPI is given pointers to device memory; auto asks the library");
    group.with_default(
        "--mpi-thread", options.mpi_thread,
        "single, funneled, serialized, multiple: the thread level of MPI; method threads of mpi needs multiple");
    group.add("--use-table", texts.use_table,
              "tuning table (JSON) by which backend tuned runs each operation on another backend");
}

void add_measuring(CLI::App& app, Options& options, Texts& texts) {
    using measure::Mode;
    using measure::StartRequest;
    using record::Effort;
    constexpr std::uint64_t most_iterations = std::uint64_t{1} << 40U;
    constexpr int most_ranks = 1 << 20;
    constexpr double most_times = 1e6;
    measure::RunnerOptions& runner = options.runner;
    OptionGroup group(app, "Measuring");
    group
        .add("-i,--iterations", runner.iterations,
             "timed iterations (calls) per cell [until the median is known well; --timing osu, nccl: as these suites]")
        ->check(CLI::Range(std::uint64_t{1}, most_iterations));
    group
        .add("-x,--warmup", runner.warmup,
             "warm-up iterations (calls) per cell; stream without -i adds some that size its samples [until times "
             "settle; --timing osu, nccl: as these suites]")
        ->check(CLI::Range(std::uint64_t{0}, most_iterations));
    group.seconds("--time-limit", runner.time_limit_ns,
                  "seconds of timed iterations per cell, unless -i fixes their number");
    group
        .with_default("--drop-slower", texts.drop_slower,
                      "--method all: stop measuring methods this many times slower than the best; 0: never")
        ->check(number_check(0, most_times));
    group.choice(
        "--rounds-over", options.rounds_over_sweep, {{"point", false}, {"sweep", true}},
        "point: backends and methods take turns at each point of the sweep; sweep: at as many points as fit in "
        "memory (rows come late)");
    group
        .add("--order-seed", options.order_seed,
             "seed of the order in which backends and methods take turns [another one in each launch, recorded]")
        ->check(whole_number_check);
    group.named("--timing", runner.mode, measure::every_mode,
                "isolated: synchronised start per iteration; stream: back to back; osu, nccl: as OSU Micro-Benchmarks "
                "and nccl-tests time the operation (docs/definitions.md), the default of --layout osu and nccl");
    group.choice(
        "--start", runner.start,
        {{"auto", StartRequest::automatic}, {"window", StartRequest::window}, {"barrier", StartRequest::barrier}},
        "how ranks begin an iteration together: window (at one time on a common clock), barrier, or auto: "
        "window where every rank has a core and the clock is good enough");
    group.choice("-c,--validation", runner.validate, {{"on", true}, {"off", false}},
                 "on: check every byte before and after timing, and of some timed iterations of each round "
                 "(docs/measuring.md); off");
    group.flag("--reproducible", texts.reproducible,
               "after timing, add numbers whose sum depends on the order, 200 times, with ranks that begin at random "
               "moments: how many different results there are");
    group.named("--cache", runner.cache, record::every_cache_mode,
                "rotate: iterations take several sets of buffers in turn, together larger than the caches; warm: one "
                "set, as osu has it; flush: one set, caches swept before each iteration");
    group.named("--fill", runner.fill, record::every_fill,
                "random: timed iterations move the payload that is checked; zeros: they move zeros, which may be "
                "faster");
    group
        .list("--beside", texts.loads,
              "what a thread beside each rank does meanwhile: none, compute (matrix products in its caches), memory "
              "(copies what no cache holds); a list measures each in turn (docs/measuring.md). traffic:NAME: other "
              "launches communicate meanwhile, which is written down, and done by whoever starts them")
        ->capture_default_str();
    group.choice("--gpu-gate", runner.gate, {{"none", false}, {"spin", true}},
                 "on GPU memory: spin: queued work starts when all ranks have queued theirs; none: at once");
    group.named("--calibration", options.calibration, std::array{Effort::off, Effort::brief, Effort::full},
                "measure the noise floor first: short (0.1 s at most), full (2 s, with transports) or off");
    group.seconds("--timeout", runner.timeout_ns,
                  "end the launch after this many seconds without progress, from MPI_Init to MPI_Finalize");
    group
        .with_default("--ranks", options.ranks,
                      "ranks without a launcher (threads of one process), and of a printed plan")
        ->check(CLI::Range(1, most_ranks));
    group.add("--buffer-limit", texts.buffer_limit,
              "bytes per rank that the buffers of a point may take; larger points are skipped [what is free]");
    group.add("--ranks-per-node", options.ranks_per_node, "plan as if nodes had this many ranks [what they have]")
        ->check(CLI::Range(1, most_ranks));
}

void add_output(CLI::App& app, PatternType const& type, Options& options, Texts& texts) {
    OptionGroup group(app, "Output");
    group.path("--results", options.results, "append the results to this JSON Lines file");
    group.flag("--resume", options.resume, "skip cells that the results file already holds as ok");
    group.add("--campaign", options.campaign, "name of a campaign: launches that are compared as one side");
    auto const has_plan = [](ParameterInfo const& parameter) { return parameter.name == "plan"; };
    if (std::none_of(type.parameters.begin(), type.parameters.end(), has_plan)) {
        group.choice("--plan", options.plan,
                     {{"text", PlanFormat::text},
                      {"jsonl", PlanFormat::jsonl},
                      {"json", PlanFormat::json},
                      {"goal", PlanFormat::goal},
                      {"dot", PlanFormat::dot}},
                     "print the plans of all ranks as text, jsonl (lines for other programs), json (one object), goal "
                     "or dot, and stop");
    }
    group.choice("--layout", options.layout,
                 {{"dlmb", TableLayout::dlmb}, {"osu", TableLayout::osu}, {"nccl", TableLayout::nccl}},
                 "human table: dlmb, osu or nccl (times in us, bandwidth in 10^9 B/s)");
    group.choice("--columns", options.columns, {{"fitting", TableColumns::fitting}, {"all", TableColumns::all}},
                 "layout dlmb: fitting: the columns that fit on 80 characters; all");
    group.add("--percentiles", options.percentiles, "layout osu: percentiles of the samples as further columns")
        ->delimiter(',')
        ->check(CLI::Range(1, 100));
    group.flag("--fom", options.figures, "DLMB-FOM lines at the end, also on a terminal");
    group.flag("--version", texts.version, "print version and git revision and exit");
}

/// Throws UsageError where a parameter of the pattern has the name of another option, or none that an option can have.
void add_options(CLI::App& app, PatternType const& type, Options& options, Texts& texts) {
    try {
        add_traffic(app, type, options, texts);
        add_transport(app, type, options, texts);
        add_measuring(app, options, texts);
        add_output(app, type, options, texts);
    } catch (CLI::ConstructionError const& error) {
        throw UsageError(
            fmt::format("pattern {}: a parameter cannot become an option ({}); rename it in the PatternType "
                        "(patterns/{})",
                        type.name, error.what(), type.name));
    }
}

/// Throws UsageError unless `name` is known.
void check_name(std::string_view option, std::string_view kind, std::string const& name,
                std::vector<std::string> const& known) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw UsageError(fmt::format("{}: {}", option, unknown_name(kind, name, known)));
    }
}

MemoryKind memory_kind(std::string const& name) {
    std::vector<std::string> known;
    for (MemoryKind const kind : every_memory_kind) {
        known.emplace_back(name_of(kind));
    }
    check_name("--memory", "memory kind", name, known);
    return *std::find_if(every_memory_kind.begin(), every_memory_kind.end(),
                         [&](MemoryKind kind) { return name_of(kind) == name; });
}

void take_other_traffic(std::string_view load, std::size_t loads) {
    if (load.size() == record::other_traffic.size()) {
        throw UsageError("--beside traffic: name it: traffic:NAME, by which results tell it from other traffic");
    }
    if (loads > 1) {
        throw UsageError(fmt::format("--beside {}: other launches do not pause for cells that are beside something "
                                     "else; give it alone",
                                     load));
    }
}

/// Reads --beside. A thread beside MPI's own is not what the level single promises.
void take_loads(CLI::App const& app, PatternType const& type, Texts const& texts, Options& options) {
    options.loads.clear();
    for (std::string const& name : texts.loads) {
        std::string const load = name == "none" ? "" : name;
        if (load.starts_with(record::other_traffic)) {
            take_other_traffic(load, texts.loads.size());
        } else {
            check_name("--beside", "load", name, {"none", "compute", "memory"});
        }
        if (std::find(options.loads.begin(), options.loads.end(), load) == options.loads.end()) {
            options.loads.push_back(load);
        }
    }
    if (!options.any_load()) {
        return;
    }
    auto const on_gpu = std::find_if(options.memory.begin(), options.memory.end(),
                                     [](MemoryKind kind) { return on_device(kind) || kind == MemoryKind::managed; });
    if (on_gpu != options.memory.end()) {
        bool const computes =
            std::any_of(type.parameters.begin(), type.parameters.end(), [](ParameterInfo const& each) {
                return each.name == "compute" && each.help.find("gemm") != each.help.npos;
            });
        throw UsageError(fmt::format("--beside: loads the host, and memory {} is the GPU's; {}", name_of(*on_gpu),
                                     computes ? "--compute gemm loads the GPU" : "give --memory host"));
    }
    if (options.mpi_thread == "single") {
        if (app.count("--mpi-thread") > 0) {
            throw UsageError("--beside: starts a thread beside MPI's own; --mpi-thread single promises that there is "
                             "none, so give funneled");
        }
        options.mpi_thread = "funneled";
    }
}

/// Reads --beside-backend.
void take_beside(Texts const& texts, Options& options) {
    if (texts.beside_backend.empty()) {
        return;
    }
    std::size_t const slash = texts.beside_backend.find('/');
    options.beside_backend = texts.beside_backend.substr(0, slash);
    if (slash != std::string::npos) {
        options.beside_method = parse_method(texts.beside_backend.substr(slash + 1));
    }
}

/// Sets what follows from several options together.
void take(Texts const& texts, Options& options) {
    std::vector<std::string> const& backends = options.backends;
    bool const runs_tuned = backends.empty() || std::find(backends.begin(), backends.end(), "tuned") != backends.end();
    if (!texts.use_table.empty()) {
        if (!runs_tuned) {
            throw UsageError("--use-table: only backend tuned runs by a table; add it to --backend");
        }
        options.use_table = texts.use_table;
    } else if (runs_tuned && !backends.empty()) {
        throw UsageError(
            "--backend tuned: give the tuning table that it runs by with --use-table FILE (docs/tuning.md)");
    }
    check_name("--mpi-thread", "thread level", options.mpi_thread, {"single", "funneled", "serialized", "multiple"});
    check_name("--mpi-device", "answer", texts.mpi_device, {"auto", "yes", "no"});
    if (!texts.nccl_comm.empty()) {
        check_name("--nccl-comm", "kind of call", texts.nccl_comm, {"blocking", "nonblocking"});
    }
    options.backend_options = {
        {"mpi", {{"device", texts.mpi_device}}},
        {"nccl",
         {{"shared_gpu", options.shared_gpu ? "yes" : "no"},
          {"comm", texts.nccl_comm},
          {"exchange", options.suite == Suite::nccl ? "native" : ""}}}};  // which program's calls are the default
    options.memory.clear();
    for (std::string const& name : texts.memory) {
        options.memory.push_back(memory_kind(name));
    }
    for (std::string const& method : texts.methods) {
        options.all_methods = options.all_methods || method == "all";
        options.methods.push_back(parse_method(method));
    }
    if (options.runner.cache == record::CacheMode::flush && options.runner.mode != measure::Mode::isolated) {
        throw UsageError(fmt::format("--cache flush needs --timing isolated: of {} only the first iteration would find "
                                     "the caches swept",
                                     name_of(options.runner.mode)));
    }
    if (!texts.buffer_limit.empty()) {
        options.buffer_limit = std::min(options.buffer_limit, parse_bytes(texts.buffer_limit, "--buffer-limit"));
    }
    // A fixed count is kept, and named methods are all measured to the end.
    bool const fixed = options.runner.iterations || (is_foreign(options.runner.mode) && !options.runner.time_limited);
    options.runner.bit_pattern_iterations = texts.reproducible ? measure::bit_pattern_iterations : 0;
    options.runner.drop_slower = options.all_methods && !fixed ? texts.drop_slower : 0;
    if (options.resume && !options.results) {
        throw UsageError("--resume: needs --results FILE, the file whose finished cells are skipped");
    }
}

/// A suite's command line or layout brings its definition of a time, and OSU's one set of buffers; what is asked for
/// wins. The command line of nccl-tests measures in place, too.
void take_definition(CLI::App const& app, Options& options) {
    measure::RunnerOptions& runner = options.runner;
    if (app.count("--timing") == 0 && (options.suite || options.layout != TableLayout::dlmb)) {
        bool const osu = options.suite ? options.suite == Suite::osu : options.layout == TableLayout::osu;
        runner.mode = osu ? measure::Mode::osu : measure::Mode::nccl;
    }
    if (app.count("--cache") == 0 && runner.mode == measure::Mode::osu) {
        runner.cache = record::CacheMode::warm;
    }
    runner.time_limited = app.count("--time-limit") > 0;
    options.also_in_place = options.suite == Suite::nccl && options.parameters.count("in-place") == 0;
}

/// Reads --model FILE and --parallel. A pattern that has models of its own takes a file as one of them.
void take_model(PatternType const& type, Texts texts, Options& options) {
    auto const own = options.parameters.find("model");
    if (type.of_model != nullptr && own != options.parameters.end() && own->second.size() == 1 &&
        own->second.front().ends_with(".json")) {
        texts.model = own->second.front();
        options.parameters.erase(own);
    }
    if (texts.model.empty()) {
        if (!texts.parallel.empty()) {
            throw UsageError(
                "--parallel: divides the model of --model FILE; without one give the options of this program");
        }
        return;
    }
    if (!options.presets.empty()) {
        throw UsageError("--model: gives what --preset gives, too; use one of them");
    }
    options.model = read_model(texts.model);
    options.parallel = parse_parallelism(texts.parallel, "--parallel");
}

std::string with_nearest_option(CLI::App const& app, CLI::ParseError const& error) {
    std::vector<std::string> const unknown = app.remaining();
    if (unknown.empty()) {
        return error.what();
    }
    std::string const hint = suite_hint(unknown.front());
    return hint.empty() ? usage_text(app, error) + "; --help lists all"
                        : fmt::format("unknown option '{}'{}", unknown.front(), hint);
}

}  // namespace

std::variant<Options, std::string> parse_options(PatternType const& type, std::vector<std::string> const& arguments) {
    Options options;
    options.command = arguments;
    Texts texts;
    CLI::App app{std::string(type.summary), fmt::format("dlmb_{}", type.name)};
    app.option_defaults()->always_capture_default(false);
    add_options(app, type, options, texts);
    app.footer(footer);
    SuiteCommand const command = in_our_words(type, {arguments.begin() + 1, arguments.end()});
    require_values(command.words);
    std::vector<std::string> reversed = command.words;
    std::reverse(reversed.begin(), reversed.end());  // CLI11 parses a vector from its back
    try {
        app.parse(std::move(reversed));
    } catch (CLI::CallForHelp const&) {
        return app.help();
    } catch (CLI::ParseError const& error) {
        throw UsageError(with_nearest_option(app, error));
    }
    if (texts.list_presets) {
        return preset_table(type);
    }
    options.suite = command.suite;
    options.host_times = command.host_times;
    take_suite_defaults(type, command, options.parameters);
    take_definition(app, options);
    take_model(type, texts, options);
    take_beside(texts, options);
    take(texts, options);
    take_loads(app, type, texts, options);
    for (std::string const& preset : options.presets) {
        (void)resolve(type, preset, {});  // refuses one that there is not
    }
    if (texts.version) {  // behind all checks: who adds it to a command line has it checked, and nothing runs
        return version_text(app.get_name());
    }
    return options;
}

}  // namespace dlmb::run
