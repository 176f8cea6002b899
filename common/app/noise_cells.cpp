// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/app/launch_calibration.hpp"
#include "common/app/noise_floor.hpp"
#include "common/backend_kit/registry.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/buffers/buffer_pool.hpp"
#include "common/measure/runner.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/plan/builder.hpp"

#include <fmt/core.h>

#include <numeric>

namespace dlmb::app {
namespace {

constexpr int repetitions = 5;
constexpr std::uint64_t warm_up = 10;
constexpr Nanoseconds cell_ns = 250'000'000;
constexpr Nanoseconds patience_ns = 60'000'000'000;

struct Probe {
    std::string_view name;
    Plan plan;
};

/// One cell that is all latency, one that is all copying.
std::vector<Probe> probes(Bootstrap const& bootstrap) {
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
    std::vector<Probe> made;
    made.push_back({"allreduce of 8 B", std::move(latency).finish()});
    made.push_back({"alltoall of 64 KiB per pair", std::move(bandwidth).finish()});
    return made;
}

/// Collective. One repetition, set-up included: `medians_ns[b]` gets that of backend b, if it can do this.
void measure_once(Bootstrap& bootstrap, MemorySpace& memory, std::vector<Plan> const& plans,
                  std::vector<RequestedBackend> const& backends, measure::Watchdog& watchdog,
                  std::vector<RepeatedCell>& cells) {
    measure::BufferPool const pool(memory, measure::buffer_sizes(plans), 1);
    measure::fill_slots(memory, pool.slots(), plans, measure::Fill::random);
    std::vector<measure::Candidate> candidates;
    std::vector<std::size_t> whose;
    for (std::size_t b = 0; b < backends.size(); ++b) {
        auto compiled = backends[b].backend->compile(plans.front(), pool.slots().front(), {});
        if (first_refusal(bootstrap, compiled ? "" : compiled.error().reason).empty()) {
            measure::Candidate& candidate = candidates.emplace_back();
            candidate.name = cells[b].name;
            candidate.backend = backends[b].backend.get();
            candidate.positions.push_back(std::move(compiled).value());
            whose.push_back(b);
        }
        backends[b].backend->quiesce();
    }
    measure::RunnerOptions options;
    options.warmup = warm_up;
    options.time_limit_ns = cell_ns;
    measure::CommonStart start(bootstrap, options.start);
    measure::run_contest({bootstrap, memory, pool.slots(), plans, start}, candidates, options, watchdog,
                         [&](std::size_t index, measure::CellResult const& result) {
                             if (result.median_of_rounds_ns > 0) {
                                 cells[whose[index]].add(result);
                             }
                         });
}

std::vector<RequestedBackend> usable_backends(Bootstrap& bootstrap) {
    std::vector<RequestedBackend> usable;
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
    constexpr int exit_stuck = 1;
    measure::Watchdog watchdog([&](measure::Stuck const& stuck) {
        fmt::print(stderr, "dlmb_info: error: rank {}: {} stood still\n", bootstrap.rank(), stuck.cell);
        bootstrap.abort(exit_stuck);
    });
    watchdog.arm("calibration", patience_ns);
    std::vector<RequestedBackend> const backends = usable_backends(bootstrap);
    Options options;
    options.memory = {MemoryKind::host};
    options.calibration = measure::Effort::full;
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
    for (Probe const& probe : probes(bootstrap)) {
        std::vector<RepeatedCell> cells;
        for (RequestedBackend const& each : backends) {
            cells.push_back({fmt::format("{}, {} ranks, {}", probe.name, bootstrap.size(), each.name), {}, {}});
        }
        for (int i = 0; i < repetitions; ++i) {
            watchdog.arm(std::string(probe.name), patience_ns);
            measure_once(bootstrap, *memory, {probe.plan}, backends, watchdog, cells);
        }
        for (RepeatedCell& cell : cells) {
            if (cell.medians_ns.size() > 1) {
                floor.cells.push_back(std::move(cell));
            }
        }
    }
    watchdog.disarm();
    return floor;
}

}  // namespace dlmb::app
