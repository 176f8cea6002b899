// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/run/info/noise_floor.hpp"

#include "common/backend_kit/registry.hpp"
#include "common/base/error.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/base/statistics/rank_test.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/formats/record/json.hpp"
#include "common/formats/record/result_file.hpp"
#include "common/run/fixed_text.hpp"
#include "common/run/launch_calibration.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unistd.h>

namespace dlmb::run {
namespace {

constexpr int repetitions = 5;
constexpr std::uint64_t warm_up = 10;
constexpr Nanoseconds cell_ns = 250'000'000;
constexpr Nanoseconds patience_ns = 60'000'000'000;

/// One cell that is all latency, one that is all copying, and their names.
std::vector<std::pair<std::string, Plan>> probes(Bootstrap const& bootstrap) {
    constexpr Bytes small = 8;
    constexpr Bytes block = Bytes{64} << 10;
    auto const ranks = static_cast<std::size_t>(bootstrap.size());
    Group world;
    world.members.resize(ranks);
    std::iota(world.members.begin(), world.members.end(), Rank{0});
    PlanBuilder latency(bootstrap.rank());
    latency.all_reduce(latency.group(world), small, Element::fp32, Reduction::sum, "allreduce");
    PlanBuilder bandwidth(bootstrap.rank());
    std::vector<Bytes> const blocks(ranks, block);
    bandwidth.exchange(bandwidth.group(world), blocks, blocks, "alltoall");
    return {{"allreduce of 8 B", std::move(latency).finish()},
            {"alltoall of 64 KiB per pair", std::move(bandwidth).finish()}};
}

std::vector<OpenedBackend> usable_backends(Bootstrap& bootstrap) {
    std::vector<OpenedBackend> usable;
    for (BackendEntry const& entry : backend_entries()) {
        MadeBackend made = make_backend(entry.name, BackendContext{bootstrap});
        if (made && made.value()->supports(MemoryKind::host)) {
            usable.push_back({std::string(entry.name), std::move(made).value(), ""});
        }
    }
    return usable;
}

}  // namespace

NoiseFloor measure_noise_floor(Bootstrap& bootstrap) {
    constexpr int exit_hang = 1;
    std::string const error = fmt::format("dlmb_info: error: rank {} stood still during ", bootstrap.rank());
    measure::Watchdog watchdog([&](measure::HangReport const& hang) {
        FixedText said;
        said.add("{}{}\n", error, hang.cell);
        put(STDERR_FILENO, said.view());
        _exit(exit_hang);
    });
    watchdog.arm("calibration", patience_ns);
    std::vector<OpenedBackend> const backends = usable_backends(bootstrap);
    Options options;
    options.memory = {MemoryKind::host};
    options.calibration = record::Effort::full;
    NoiseFloor floor;
    floor.calibration = calibrate_launch(bootstrap, options, backends, {}, watchdog);
    floor.remarks = quiet_warnings(*floor.calibration);
    if (bootstrap.size() < 2) {
        floor.remarks.emplace_back("one rank exchanges nothing: start this with mpirun or srun over the ranks to come");
        watchdog.disarm();
        return floor;
    }
    std::string why_not;
    std::unique_ptr<MemorySpace> const memory = make_memory(MemoryKind::host, why_not);
    std::vector<Backend*> each_backend;
    for (OpenedBackend const& opened : backends) {
        each_backend.push_back(opened.backend.get());
    }
    measure::RunnerOptions runner;
    runner.warmup = warm_up;
    runner.time_limit_ns = cell_ns;
    for (auto const& [name, plan] : probes(bootstrap)) {
        std::string const cell_name = fmt::format("{}, {} ranks, ", name, bootstrap.size());
        std::map<std::string, RepeatedCell> cells;
        for (int i = 0; i < repetitions; ++i) {
            watchdog.arm(name, patience_ns);
            measure::measure_on_each(bootstrap, *memory, plan, each_backend, cell_name, runner, watchdog,
                                     [&](Backend const& backend, record::CellResult const& result) {
                                         if (result.median_of_rounds_ns > 0) {
                                             cells[std::string(backend.name())].add(result);
                                         }
                                     });
        }
        for (OpenedBackend const& opened : backends) {
            RepeatedCell& cell = cells[opened.name];
            cell.name = cell_name + opened.name;
            if (cell.medians_ns.size() > 1) {
                floor.cells.push_back(std::move(cell));
            }
        }
    }
    watchdog.disarm();
    return floor;
}

namespace {

constexpr std::size_t least_launches = 3;

/// Launches that may be taken together. One without --campaign is named after itself, and then by its environment
/// alone.
std::string family_of(record::Launch const& launch) {
    std::string const campaign = launch.campaign_id == launch.launch_id ? "" : launch.campaign_id;
    return campaign + '\0' + launch.environment.env_key;
}

}  // namespace

NoiseFloor read_noise_floor(std::vector<std::filesystem::path> const& files) {
    NoiseFloor floor;
    floor.between_launches = true;
    std::map<std::pair<std::string, std::string>, RepeatedCell> cells;  // by family and cell
    std::set<std::string> families;
    for (std::filesystem::path const& file : files) {
        record::ResultFile const results = record::read_results(file);
        std::map<std::string, record::Launch const*> launches;
        for (record::Launch const& launch : results.launches) {
            launches[launch.launch_id] = &launch;
            families.insert(family_of(launch));
        }
        for (record::StoredCell const& stored : results.cells) {
            record::Launch const& launch = *launches.at(stored.launch_id);
            double const median_ns = stored.cell.result.median_of_rounds_ns;
            if (stored.cell.result.status == record::Status::ok && median_ns > 0 &&
                !record::on_test_double(launch.environment) && !stored.cell.shared_gpu) {
                RepeatedCell& cell = cells[{family_of(launch), stored.cell.cell_id}];
                cell.name = stored.cell.cell_id;
                cell.stream = stored.cell.identity.mode == "stream";
                cell.add(stored.cell.result);
            }
        }
    }
    std::size_t most = 0;
    for (auto& [key, cell] : cells) {
        most = std::max(most, cell.medians_ns.size());
        if (cell.medians_ns.size() >= least_launches) {
            floor.cells.push_back(std::move(cell));
        }
    }
    if (floor.cells.empty()) {
        throw UsageError(
            fmt::format("--from: the spread of launches takes {} of one cell, campaign and environment; the "
                        "most that these files hold is {}",
                        least_launches, most));
    }
    if (families.size() > 1) {
        floor.remarks.push_back(fmt::format("{} campaigns or environments, looked at apart", families.size()));
    }
    return floor;
}

namespace {

constexpr double power = 0.8;
// Margins of dlmb_compare: what is shorter than 50 us is held to less.
constexpr double short_cell_ns = 50'000;
constexpr double margin_of_short_cells = 0.05;
constexpr double margin_of_long_cells = 0.03;

double margin_for(RepeatedCell const& cell, double median_ns) {
    return !cell.stream && median_ns < short_cell_ns ? margin_of_short_cells : margin_of_long_cells;
}

/// By launches per side: simulated once, whatever the number of cells.
using Detections = std::map<std::size_t, statistics::Detection>;

InfoJson describe(RepeatedCell const& cell, Detections const& detections) {
    double const median_ns = statistics::median(cell.medians_ns);
    double const spread = statistics::log_spread(cell.medians_ns);
    double const margin = margin_for(cell, median_ns);
    InfoJson json{{"cell", cell.name},
                  {"median_ns", median_ns},
                  {"repetitions", cell.medians_ns.size()},
                  {"spread", spread},
                  {"spread_at_most", spread * statistics::spread_bound(cell.medians_ns.size())},
                  {"margin", margin},
                  {"least_slowdown", InfoJson::object()}};
    for (auto const& [launches, detection] : detections) {
        auto const least = detection.least_slowdown(spread, margin, power);
        json["least_slowdown"][std::to_string(launches)] = least ? InfoJson(*least) : InfoJson(nullptr);
    }
    return json;
}

}  // namespace

void RepeatedCell::add(record::CellResult const& result) {
    medians_ns.push_back(result.median_of_rounds_ns);
}

InfoJson noise_json(NoiseFloor const& floor) {
    Detections detections;
    for (std::size_t const launches : {5U, 8U, 12U, 16U}) {
        detections.try_emplace(launches, launches);
    }
    InfoJson json{{"calibration", record::calibration_json(floor.calibration)},
                  {"spread_is", floor.between_launches ? "between launches" : "within one launch"},
                  {"power", power},
                  {"alpha", statistics::usual_alpha},
                  {"cells", InfoJson::array()},
                  {"remarks", floor.remarks}};
    for (RepeatedCell const& cell : floor.cells) {
        json["cells"].push_back(describe(cell, detections));
    }
    return json;
}

namespace {

constexpr std::size_t most_rows = 20;

/// A share in per cent; beyond ten times its size a column holds no more, and nobody asks.
std::string percent(InfoJson const& share) {
    constexpr double most = 10;
    if (share.is_null()) {
        return "-";
    }
    return share.get<double>() > most ? ">1000" : fmt::format("{:.1f}", 100 * share.get<double>());
}

std::string row(InfoJson const& cell) {
    std::string text = fmt::format("{:>13} {:>7} {:>7} {:>6}", human_us(cell["median_ns"]), percent(cell["spread"]),
                                   percent(cell["spread_at_most"]), cell["repetitions"].get<std::uint64_t>());
    for (auto const& [launches, least] : cell["least_slowdown"].items()) {
        text += fmt::format("{:>8}", percent(least));
    }
    return text + "  " + cell["cell"].get<std::string>() + "\n";
}

std::string heading(InfoJson const& cell, std::string_view repeated) {
    std::string text = fmt::format("{:>13} {:>7} {:>7} {:>6}", "median [us]", "spread", "at most", repeated);
    for (auto const& [launches, least] : cell["least_slowdown"].items()) {
        text += fmt::format("{:>8}", launches);
    }
    return text + "  cell\n";
}

}  // namespace

std::string noise_text(InfoJson const& noise) {
    std::string text = calibration_line(record::calibration_from(noise["calibration"]));
    for (InfoJson const& remark : noise["remarks"]) {
        text += fmt::format("# {}\n", remark.get<std::string>());
    }
    auto cells = noise["cells"].get<std::vector<InfoJson>>();
    if (cells.empty()) {
        return text;
    }
    bool const between = noise["spread_is"] == "between launches";
    text += fmt::format(
        "# spread {} in %, with 90 % confidence at most the next column; then the least slowdown in % that a\n"
        "# comparison of 5, 8, 12 or 16 launches per side shows in {:.0f} of 100 tries (exact one-sided rank test at "
        "{}, "
        "margin\n# 3 %, below 50 us 5 %)\n",
        noise["spread_is"].get<std::string>(), 100 * noise["power"].get<double>(), noise["alpha"].get<double>());
    if (!between) {
        text += "# Launches differ by more than repetitions within one: these slowdowns are a lower limit. Run several "
                "launches\n# with --campaign NAME --results FILE and give --from FILE.\n";
    }
    std::sort(cells.begin(), cells.end(),
              [](InfoJson const& a, InfoJson const& b) { return a["spread"] > b["spread"]; });
    text += heading(cells.front(), between ? "of" : "times");
    for (std::size_t i = 0; i < std::min(cells.size(), most_rows); ++i) {
        text += row(cells[i]);
    }
    if (cells.size() > most_rows) {
        text += fmt::format("# and {} quieter cells (--json shows all); the middle one:\n{}", cells.size() - most_rows,
                            row(cells[cells.size() / 2]));
    }
    return text;
}

}  // namespace dlmb::run
