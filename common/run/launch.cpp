// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/launch.hpp"

#include "common/base/error.hpp"
#include "common/base/hash.hpp"
#include "common/base/input_file.hpp"
#include "common/bootstrap/node_layout.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/transform/overlay.hpp"
#include "common/formats/record/record.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/measure/environment/machine.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/run/adopt_device.hpp"
#include "common/run/batch.hpp"
#include "common/run/cells.hpp"
#include "common/run/fixed_text.hpp"
#include "common/run/launch_calibration.hpp"
#include "common/run/resumed_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace dlmb::run {

LaunchWatch::LaunchWatch(std::string_view program, Rank rank, Nanoseconds timeout_ns,
                         measure::Watchdog::Signals signals)
    : program_(program), timeout_ns_(timeout_ns), rank_(rank),
      who_(rank < 0 ? fmt::format("{}: error: a rank: ", program) : fmt::format("{}: error: rank {}: ", program, rank)),
      silent_(fmt::format(": no progress for {:.0f} s\n", static_cast<double>(timeout_ns) / 1e9)),
      watchdog_([this](measure::HangReport const& hang) { end_launch(hang); }, signals) {
    start_up();
}

void LaunchWatch::name_rank(Bootstrap const& bootstrap) {
    std::string who = fmt::format("{}: error: rank {} ({}): ", program_, bootstrap.rank(), bootstrap.host());
    std::string host = bootstrap.host();
    measure::HeldSignals const held;
    rank_ = bootstrap.rank();
    host_.swap(host);
    who_.swap(who);
}

/// Async-signal-safe. Rank 0 gets time to save what it has before the others end the job. A rank that leaves MPI's job
/// without MPI_Finalize ends all of it; MPI_Abort must not be called from a signal handler.
// NOLINTNEXTLINE(bugprone-exception-escape): see FixedText
void LaunchWatch::end_launch(measure::HangReport const& hang) noexcept {
    constexpr int head_start_ms = 5000;  // deadlines of ranks differ by up to one iteration
    constexpr int signal_exit_base = 128;
    if (Reporter* const reporter = reporter_; reporter != nullptr) {
        reporter->hang(hang, rank_, host_);
    } else if (hang.signal == 0 || !over_) {
        std::string_view const by_signal = ": ended by a signal (the job was cancelled, or another rank ended)\n";
        std::string_view const why = hang.signal == 0 ? std::string_view(silent_) : by_signal;
        FixedText said;
        said.add("{}{}{}", who_, hang.cell, why);
        put(STDERR_FILENO, said.view());
    }
    if (rank_ != 0) {
        poll(nullptr, 0, head_start_ms);
    }
    _exit(hang.signal == 0 ? static_cast<int>(exit_cell_failed) : signal_exit_base + hang.signal);
}

namespace {

/// Collective. What `work` gives on rank 0, on every rank; so is a UsageError or OutputError that it throws.
std::string on_rank_zero(Bootstrap& bootstrap, std::function<std::string()> const& work) {
    constexpr char done = ' ';
    constexpr char usage_error = 'u';
    constexpr char output_error = 'o';
    std::string told;
    try {
        told = bootstrap.rank() == 0 ? done + work() : "";
    } catch (UsageError const& error) {
        told = usage_error + std::string(error.what());
    } catch (OutputError const& error) {
        told = output_error + std::string(error.what());
    }
    told = text_from_rank(bootstrap, told, 0);
    std::string text = told.substr(1);
    if (told.front() == usage_error) {
        throw UsageError(text);
    }
    if (told.front() == output_error) {
        throw OutputError(text);
    }
    return text;
}

/// Collective. The standard input of rank 0, on every rank. Every piece that arrives is progress.
std::string read_standard_input(Bootstrap& bootstrap, measure::Watchdog& watchdog) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    std::string text;
    while (true) {
        std::string const piece = on_rank_zero(bootstrap, [&] {
            std::string bytes(piece_bytes, '\0');
            ssize_t const count = read(STDIN_FILENO, bytes.data(), bytes.size());
            if (count < 0) {
                throw UsageError(fmt::format("--plan -: standard input cannot be read: {}", std::strerror(errno)));
            }
            bytes.resize(static_cast<std::size_t>(count));
            return bytes;
        });
        watchdog.touch();
        if (piece.empty()) {
            return text;
        }
        text += piece;
        if (text.size() > most_stream_bytes) {
            throw UsageError(fmt::format("--plan -: standard input has more than {}; write the plans to a file",
                                         human_bytes(most_stream_bytes)));
        }
    }
}

/// Collective. Plans that come through a pipe: the standard input of rank 0 becomes that of every rank, as a file that
/// can be opened again. Its hash joins the name, so that other plans make another cell.
void share_standard_input(Bootstrap& bootstrap, PatternType const& type, Options& options,
                          measure::Watchdog& watchdog) {
    auto const plans = options.parameters.find("plan");
    if (!type.reads_plans || plans == options.parameters.end()) {
        return;
    }
    auto const piped = std::find(plans->second.begin(), plans->second.end(), "-");
    if (piped == plans->second.end()) {
        return;
    }
    std::string const text = read_standard_input(bootstrap, watchdog);
    *piped = "-:" + stable_hash(text);
    bool const has_own = bootstrap.kind() != "in_process" || bootstrap.rank() == 0;  // a process
    if (has_own) {
        int const file = memfd_create("plans", 0);
        std::size_t done = 0;
        while (file >= 0 && done < text.size()) {
            ssize_t const written = write(file, text.data() + done, text.size() - done);
            if (written < 0) {
                break;
            }
            done += static_cast<std::size_t>(written);
        }
        if (file < 0 || done < text.size() || dup2(file, STDIN_FILENO) < 0) {
            throw Error(fmt::format("--plan -: the plans cannot be held in memory: {}", std::strerror(errno)));
        }
    }
    bootstrap.barrier();
}

/// The world that traffic is planned for.
struct PlannedWorld {
    WorldShape shape;
    std::string assumption;  // how it is not the one of this launch; empty: it is
};

/// Collective.
PlannedWorld world_of(Bootstrap& bootstrap, Options const& options) {
    bool const threads = bootstrap.kind() == "in_process";  // on one node, whatever --ranks-per-node pretends
    int const there = threads ? bootstrap.size() : gather_layout(bootstrap).ranks_per_node();
    int const planned = options.ranks_per_node.value_or(there);
    PlannedWorld world{{bootstrap.size(), planned}, ""};
    if (planned != there) {
        world.assumption = fmt::format(
            "--ranks-per-node {}: planned for nodes that this launch does not have ({}); its cells are flagged {}, and "
            "no tuning table is made of them",
            planned,
            there > 0 ? fmt::format("it has {} ranks on each", there) : "its ranks are not on nodes in equal blocks",
            record::assumed_nodes_flag);
    }
    return world;
}

/// Every point is checked before the first one is measured, on all ranks: a counts file may be missing on one node.
std::vector<SweepPoint> checked_sweep(Bootstrap& bootstrap, PatternType const& type, Options const& options,
                                      WorldShape const& world, std::map<std::string, std::size_t>& left_out,
                                      measure::Watchdog& watchdog) {
    std::vector<SweepPoint> points;
    std::string problem;
    try {
        points = resolved_in(type, expand_sweep(type, options, world.ranks, &left_out), world,
                             [&watchdog] { watchdog.touch(); });
        if (options.also_in_place) {
            points = with_points_in_place(type, points, world);
        }
        points = with_communication_first(type, std::move(points));  // behind the check, which names what was given
        if (!options.beside_backend.empty() && std::none_of(points.begin(), points.end(), [&](SweepPoint const& point) {
                return make_pattern(type, point, world)->runs_beside();
            })) {
            throw UsageError(fmt::format("--beside-backend: none of the plans has steps of the phase '{}'; make one "
                                         "with dlmb_plan overlay",
                                         beside_phase));
        }
    } catch (UsageError const& error) {
        problem = error.what();
    }
    require_usable(bootstrap, problem);
    return points;
}

/// Collective. An order that all launches shared would put the same cell in the wake of the same other one in each.
std::uint64_t order_seed(Bootstrap& bootstrap, Options const& options) {
    return from_rank(bootstrap, options.order_seed.value_or(std::random_device{}()));
}

record::Launch describe_launch(Bootstrap& bootstrap, PatternType const& type, Options const& options,
                               WorldShape const& world, measure::DeviceUse const& device) {
    record::Launch launch;
    launch.environment = measure::capture_environment(bootstrap, device);
    launch.launch_id = record::new_launch_id();
    launch.campaign_id = options.campaign.empty() ? launch.launch_id : options.campaign;
    launch.time = record::utc_now();
    launch.program = fmt::format("dlmb_{}", type.name);
    launch.command = options.command;
    launch.order_seed = options.runner.order_seed;
    launch.world = world;
    return launch;
}

/// Collective. On rank 0, which alone reads, so that a slow shared file system is asked once.
record::FinishedCells finished_cells(Bootstrap& bootstrap, PatternType const& type, Options const& options) {
    record::FinishedCells finished;
    (void)on_rank_zero(bootstrap, [&] {
        if (options.resume) {
            finished = record::finished_cells(*options.results, type.name);
        }
        return std::string();
    });
    return finished;
}

/// Collective. Opens the results file on rank 0.
std::unique_ptr<Reporter> make_reporter(Bootstrap& bootstrap, PatternType const& type, Options const& options,
                                        record::Launch const& launch) {
    std::unique_ptr<Reporter> reporter;
    (void)on_rank_zero(bootstrap, [&] {
        reporter = std::make_unique<Reporter>(options, type, launch, true);
        return std::string();
    });
    return reporter ? std::move(reporter) : std::make_unique<Reporter>(options, type, launch, false);
}

/// Collective. nullptr: no cell has a load. Adds a warning where ranks and loads take turns.
std::unique_ptr<measure::BackgroundLoads> make_loads(Bootstrap& bootstrap, Options const& options,
                                                     record::Environment& environment) {
    if (!options.any_load()) {
        return nullptr;
    }
    auto loads = std::make_unique<measure::BackgroundLoads>(bootstrap, environment.largest_cache);
    std::int64_t const shared = reduce_over_ranks(bootstrap, loads->shares_units() ? 1 : 0, Fold::sum);
    if (shared > 0) {
        environment.warnings.push_back(fmt::format(
            "{} of {} ranks have their load (--beside) where ranks run, and take turns with it; start fewer "
            "ranks, or bind each to several units (mpirun --map-by slot:PE=2)",
            shared, bootstrap.size()));
    }
    return loads;
}

/// As if every point had the cells of the first one; 0 with --resume: the results file may hold any number of them.
std::uint64_t cells_ahead(CellSource const& source, std::span<SweepPoint const> points) {
    if (points.empty() || source.options.resume) {
        return 0;
    }
    SweepPoint const& first = points.front();
    auto const skip = [](measure::Cell const&, std::string const&) {};
    return cells_of(source, first, *source.type.make(first.parameters, source.world), skip).size() * points.size();
}

}  // namespace

int run_launch(Bootstrap& bootstrap, PatternType const& type, Options const& given, LaunchWatch& watch) {
    watch.name_rank(bootstrap);
    watch.start_up();
    measure::Watchdog& watchdog = watch.watchdog();
    Options options = given;
    options.runner.order_seed = order_seed(bootstrap, given);
    PlannedWorld const planned = world_of(bootstrap, options);
    WorldShape const& world = planned.shape;
    share_standard_input(bootstrap, type, options, watchdog);
    std::map<std::string, std::size_t> left_out;
    std::vector<SweepPoint> const points = checked_sweep(bootstrap, type, options, world, left_out, watchdog);
    record::FinishedCells finished = finished_cells(bootstrap, type, options);
    bool const host_only = std::all_of(options.memory.begin(), options.memory.end(), [](MemoryKind kind) {
        return kind == MemoryKind::host || kind == MemoryKind::ucx;
    });
    measure::DeviceUse const device = host_only ? adopt_no_device() : adopt_device(bootstrap, options.devices);
    record::Launch description = describe_launch(bootstrap, type, options, world, device);
    if (!planned.assumption.empty()) {
        description.environment.warnings.push_back(planned.assumption);
    }
    std::unique_ptr<Chooser> const chooser = open_chooser(bootstrap, options, description.environment);
    std::vector<OpenedBackend> const backends = open_backends(bootstrap, options, chooser.get());
    check_methods(backends, options);
    note_device_path(bootstrap, backends, options);
    description.calibration = calibrate_launch(bootstrap, options, backends, device, watchdog);
    if (description.calibration) {
        for (std::string& warning : quiet_warnings(*description.calibration)) {
            description.environment.warnings.push_back(std::move(warning));
        }
    }
    for (std::string& warning : other_environments(finished, world, description.environment)) {
        description.environment.warnings.push_back(std::move(warning));
    }
    std::unique_ptr<measure::BackgroundLoads> const loads = make_loads(bootstrap, options, description.environment);
    std::unique_ptr<Reporter> const reporter = make_reporter(bootstrap, type, options, description);
    LaunchWatch::HangReporter const hang_reporter(watch, *reporter);
    reporter->expect_points(points);
    for (auto const& [reason, count] : left_out) {
        reporter->comment(fmt::format("left out: {} {}", count, reason));
    }
    measure::CommonStart start(bootstrap, options.runner.start);
    std::optional<Throttling> throttling;
    if (device.device) {
        throttling.emplace(device.device->pci_bus_id);
    }
    measure::QuotaReader const cpu_quota;
    measure::LaunchShared const shared{bootstrap, start, watchdog, options.runner, &cpu_quota, loads.get()};
    CellSource const source{type, options, world, backends, !planned.assumption.empty()};
    ResumedCells const resumed(options.resume, options.runner.validate, std::move(finished));
    RankHardware const hardware{device, throttling ? &*throttling : nullptr, options.shared_gpu,
                                description.environment.largest_cache,
                                measure::parse_cpu_list(measure::read_affinity().numa)};
    if (std::string const length = length_of(cells_ahead(source, points), options.runner); !length.empty()) {
        reporter->announce(length);
    }
    Batch batch(shared, source, hardware, resumed, *reporter);
    for (std::size_t number = 0; number < points.size(); ++number) {
        SweepPoint const& point = points[number];
        reporter->point(number + 1, points.size(), fmt::format("{} {}", point.title, name_of(point.memory)));
        batch.add(point);
    }
    batch.run();
    watch.end();
    return from_rank(bootstrap, reporter->finish());  // only rank 0 knows whether the results were saved
}

}  // namespace dlmb::run
