// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Backends and devices.
#include "common/base/clock.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/formats/plan/builder.hpp"
#include "common/measure/calibration/calibration.hpp"
#include "common/measure/start/common_start.hpp"
#include "common/memory/device_gate.hpp"
#include "common/memory/device_queue.hpp"

#include <numeric>

namespace dlmb::measure {
namespace {

constexpr Bytes message = 8;
constexpr std::uint64_t warm_up = 10;

Plan to_the_next_rank(Bootstrap const& bootstrap) {
    Group world;
    world.members.resize(static_cast<std::size_t>(bootstrap.size()));
    std::iota(world.members.begin(), world.members.end(), Rank{0});
    PlanBuilder builder(bootstrap.rank());
    GroupId const group = builder.group(world);
    int const ranks = bootstrap.size();
    constexpr int batch = 0;  // both posted before either is waited for
    builder.send(group, (bootstrap.rank() + 1) % ranks, message, 0, batch, "exchange");
    builder.recv(group, (bootstrap.rank() + ranks - 1) % ranks, message, 0, batch, "exchange");
    return std::move(builder).finish();
}

}  // namespace

std::vector<record::ExchangeFloor> calibrate_exchange(Bootstrap& bootstrap, MemorySpace& memory,
                                                      std::span<Backend* const> backends, Nanoseconds limit_ns,
                                                      Watchdog& watchdog) {
    if (bootstrap.size() < 2) {
        return {};
    }
    PreparedPoint point(bootstrap, memory, {to_the_next_rank(bootstrap)});
    std::vector<Cell> cells;
    for (Backend* const backend : backends) {
        Cell cell;
        cell.name = "calibration of " + std::string(backend->name());
        cell.backend = backend;
        cell.point = &point;
        if (cell.compile(bootstrap).empty()) {
            cells.push_back(std::move(cell));
        }
    }
    RunnerOptions options;
    options.warmup = warm_up;
    options.time_limit_ns = limit_ns;
    options.validate = false;
    options.start = StartRequest::barrier;
    CommonStart start(bootstrap, options.start);
    std::vector<record::ExchangeFloor> floors;
    run_cells({bootstrap, start, watchdog, options}, cells, [&](Cell const& cell, record::CellResult const& result) {
        floors.push_back(
            {std::string(cell.backend->name()), std::string(dlmb::name_of(memory.kind())), result.median_of_rounds_ns});
    });
    return floors;
}

namespace {

constexpr int repetitions = 200;
constexpr int unrecorded = 10;  // the first kernel of a module loads it

/// Median of what `once` gives.
template <class Once>
double typical(Once once) {
    std::vector<Nanoseconds> values;
    for (int i = 0; i < repetitions; ++i) {
        Nanoseconds const value = once();
        if (i >= unrecorded) {
            values.push_back(value);
        }
    }
    return statistics::median(values);
}

}  // namespace

record::DeviceFloor calibrate_device(Bootstrap& bootstrap) {
    DeviceQueue const queue;
    TimedEvent begin;
    TimedEvent end;
    DeviceEvent done;  // as iterations have it
    DeviceGate gate;
    double const event_pair = typical([&] {
        begin.record(queue);
        end.record(queue);
        queue.drain();
        return end.since(begin);
    });
    double const queue_and_wait = typical([&] {
        Nanoseconds const start = now_ns();
        done.record(queue);
        while (!done.reached()) {
        }
        return now_ns() - start;
    });
    double const gate_release = typical([&] {
        gate.close(queue);
        done.record(queue);
        Nanoseconds const start = now_ns();
        gate.open();
        while (!done.reached()) {
        }
        return now_ns() - start;
    });
    return {max_over_ranks(bootstrap, event_pair), max_over_ranks(bootstrap, queue_and_wait),
            max_over_ranks(bootstrap, gate_release)};
}

}  // namespace dlmb::measure
