// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/runner.hpp"

#include "common/base/error.hpp"
#include "common/base/hash.hpp"
#include "common/base/statistics/order_statistics.hpp"
#include "common/bootstrap/over_ranks.hpp"
#include "common/measure/cell_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

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

void require_compiled(Cell const& cell) {
    if (cell.backend == nullptr || cell.point == nullptr || cell.positions.size() != cell.point->positions()) {
        throw Error(
            fmt::format("{}: {} compiled plans, which are not those of its point", cell.name, cell.positions.size()));
    }
}

record::CellResult failed(std::exception const& error) {
    record::CellResult result;
    result.status = record::Status::failed;
    result.reason = error.what();
    return result;
}

/// Collective. As times_slower(), which only the deciding rank can tell.
std::vector<double> cells_to_drop(Bootstrap& bootstrap, std::deque<CellRun> const& runs, double factor) {
    auto const compared = [](CellRun const& one, CellRun const& other) {
        return one.cell().point == other.cell().point && one.cell().backend == other.cell().backend &&
               one.cell().identity.beside == other.cell().identity.beside;
    };
    std::vector<CellSoFar> so_far;
    for (CellRun const& run : runs) {
        CellSoFar& cell = so_far.emplace_back(run.so_far());
        auto const first =
            std::find_if(runs.begin(), runs.end(), [&](CellRun const& other) { return compared(run, other); });
        cell.group = static_cast<std::size_t>(first - runs.begin());
    }
    std::vector<double> slower = times_slower(so_far, factor);
    auto const bytes = std::as_bytes(std::span(slower));
    Blob blob(bytes.begin(), bytes.end());
    bootstrap.broadcast(blob, deciding_rank);
    std::memcpy(slower.data(), blob.data(), blob.size());
    return slower;
}

}  // namespace

// nccl-tests 2.19.7, src/common.cu: -n 20 -w 1.
RunnerOptions with_counts(RunnerOptions options, OsuProgram const& osu) {
    constexpr std::uint64_t nccl_iterations = 20;
    constexpr std::uint64_t nccl_warmup = 1;
    if (is_foreign(options.mode)) {
        bool const by_osu = options.mode == Mode::osu;
        if (!options.iterations && !options.time_limited) {
            options.iterations = by_osu ? osu.iterations : nccl_iterations;
        }
        options.warmup = options.warmup.value_or(by_osu ? osu.warmup : nccl_warmup);
    }
    return options;
}

std::vector<std::size_t> round_order(std::size_t count, std::uint64_t seed, std::uint64_t round) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t const key = splitmix64(splitmix64(seed) + round);
    for (std::size_t left = count; left > 1; --left) {
        std::swap(order[left - 1], order[splitmix64(key + left) % left]);
    }
    return order;
}

std::vector<double> times_slower(std::span<CellSoFar const> cells, double factor) {
    constexpr std::size_t rounds_least = 2;
    std::map<std::size_t, std::vector<std::pair<double, std::size_t>>> groups;  // median of rounds, and whose
    for (std::size_t index = 0; index < cells.size(); ++index) {
        if (auto const rounds = cells[index].round_medians_ns; !rounds.empty()) {
            groups[cells[index].group].emplace_back(statistics::median(rounds), index);
        }
    }
    std::vector<double> slower(cells.size(), 0);
    for (auto& [number, group] : groups) {
        std::sort(group.begin(), group.end());
        auto const& [best_median, best] = group.front();
        auto const rounds_of_best = cells[best].round_medians_ns;
        double const bound = factor * *std::max_element(rounds_of_best.begin(), rounds_of_best.end());
        for (auto const& [own_median, index] : std::span(group).subspan((group.size() + 1) / 2)) {
            auto const rounds = cells[index].round_medians_ns;
            if (cells[index].may_drop && rounds.size() >= rounds_least &&
                *std::min_element(rounds.begin(), rounds.end()) > bound) {
                slower[index] = own_median / best_median;
            }
        }
    }
    return slower;
}

void run_cells(LaunchShared const& launch, std::span<Cell const> cells,
               std::function<void(Cell const&, record::CellResult const&)> const& finished,
               std::function<void()> const& turn) {
    RunnerOptions const& options = launch.options;
    // The compiled plans that the watchdog looks at die soon after the run, however it ends.
    auto const disarm = [](Watchdog* watchdog) { watchdog->disarm(); };
    std::unique_ptr<Watchdog, decltype(disarm)> const disarmed_at_end(&launch.watchdog, disarm);
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
        try {
            what(run);
        } catch (TimeoutError const&) {
            launch.watchdog.expire();  // the same record as of a transport that the watchdog found standing still
            throw;
        } catch (std::exception const& error) {
            finished(run.cell(), failed(error));
            throw;
        }
        if (run.over()) {
            finished(run.cell(), run.result());
        }
    };
    for (std::uint64_t round = 0; any_left(); ++round) {
        for (std::size_t const number : round_order(runs.size(), options.order_seed, round)) {
            if (!runs[number].over()) {
                turn();
                visit(runs[number], [&](CellRun& run) { round == 0 ? run.start() : run.round(round); });
            }
        }
        if (options.drop_slower > 0 && round > 0 && any_left()) {
            std::vector<double> const slower = cells_to_drop(launch.bootstrap, runs, options.drop_slower);
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
