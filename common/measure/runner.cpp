// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/runner.hpp"

#include "common/base/error.hpp"
#include "common/measure/cell_run.hpp"
#include "common/measure/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>

namespace dlmb::measure {
namespace {

/// Which backend may communicate now.
class ActiveBackend {
public:
    void use(Backend& backend) {
        if (current_ != &backend) {
            release();
            current_ = &backend;
        }
    }
    void release() {
        if (current_ != nullptr) {
            current_->quiesce();
            current_ = nullptr;
        }
    }

private:
    Backend* current_ = nullptr;
};

/// The compiled plans that the watchdog looks at die soon after the run, however it ends.
class DisarmAtEnd {
public:
    explicit DisarmAtEnd(Watchdog& watchdog) : watchdog_(watchdog) {}
    DisarmAtEnd(DisarmAtEnd const&) = delete;
    DisarmAtEnd(DisarmAtEnd&&) = delete;
    DisarmAtEnd& operator=(DisarmAtEnd const&) = delete;
    DisarmAtEnd& operator=(DisarmAtEnd&&) = delete;
    ~DisarmAtEnd() { watchdog_.disarm(); }

private:
    Watchdog& watchdog_;
};

void require_compiled(Cell const& cell) {
    if (cell.backend == nullptr || cell.point == nullptr || cell.positions.size() != cell.point->positions()) {
        throw Error(
            fmt::format("{}: {} compiled plans, which are not those of its point", cell.name, cell.positions.size()));
    }
}

/// A transport that gives up by itself leaves the same record as one that the watchdog found standing still.
void take_turn(CellRun& run, std::uint64_t round, Watchdog& watchdog) {
    try {
        if (round == 0) {
            run.start();
        } else {
            run.round(round);
        }
    } catch (TimeoutError const&) {
        watchdog.expire();
        throw;
    }
}

/// Collective. By cell: how many times slower than the best of its point and backend, where it shall get no more
/// rounds; else 0.
std::vector<double> times_slower(Bootstrap& bootstrap, std::deque<CellRun> const& runs, double factor) {
    constexpr double steps = 1000;  // of a ratio that ranks tell each other
    auto const compared = [](CellRun const& one, CellRun const& other) {
        return one.cell().point == other.cell().point && one.cell().backend == other.cell().backend;
    };
    std::vector<CellSoFar> so_far;
    for (CellRun const& run : runs) {
        CellSoFar& cell = so_far.emplace_back(run.so_far());
        auto const first =
            std::find_if(runs.begin(), runs.end(), [&](CellRun const& other) { return compared(run, other); });
        cell.group = static_cast<std::size_t>(first - runs.begin());
    }
    std::vector<std::int64_t> slower(runs.size(), 0);
    for (Dropped const& cell : cells_to_drop(so_far, factor)) {
        slower[cell.index] = std::llround(cell.times_slower * steps);
    }
    bootstrap.all_reduce(slower, Fold::max);
    std::vector<double> ratios;
    std::transform(slower.begin(), slower.end(), std::back_inserter(ratios),
                   [](std::int64_t ratio) { return static_cast<double>(ratio) / steps; });
    return ratios;
}

}  // namespace

void run_cells(LaunchShared const& launch, std::span<Cell const> cells,
               std::function<void(Cell const&, CellResult const&)> const& finished) {
    RunnerOptions const& options = launch.options;
    DisarmAtEnd const disarm(launch.watchdog);
    std::deque<CellRun> runs;
    for (Cell const& cell : cells) {
        require_compiled(cell);
        runs.emplace_back(launch, cell);
    }
    ActiveBackend active;
    auto const any_left = [&] {
        return std::any_of(runs.begin(), runs.end(), [](CellRun const& run) { return !run.over(); });
    };
    auto const visit = [&](CellRun& run, auto const& what) {
        active.use(*run.cell().backend);
        launch.watchdog.arm(run.cell().name, options.timeout_ns);
        what(run);
        if (run.over()) {
            finished(run.cell(), run.result());
        }
    };
    for (std::uint64_t round = 0; any_left(); ++round) {
        for (std::size_t const number : round_order(runs.size(), options.order_seed, round)) {
            if (!runs[number].over()) {
                visit(runs[number], [&](CellRun& run) { take_turn(run, round, launch.watchdog); });
            }
        }
        if (options.drop_slower > 0 && round > 0 && any_left()) {
            std::vector<double> const slower = times_slower(launch.bootstrap, runs, options.drop_slower);
            for (std::size_t number = 0; number < runs.size(); ++number) {
                if (slower[number] > 0) {
                    visit(runs[number], [&](CellRun& run) { run.drop(slower[number]); });
                }
            }
        }
    }
    active.release();
}

}  // namespace dlmb::measure
