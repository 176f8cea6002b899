// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/runner.hpp"

#include "common/base/error.hpp"
#include "common/measure/cell_run.hpp"
#include "common/measure/rotation.hpp"
#include "common/measure/round_order.hpp"

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

/// The compiled plans that the watchdog looks at die soon after the contest, however it ends.
class WatchedContest {
public:
    explicit WatchedContest(Watchdog& watchdog) : watchdog_(watchdog) {}
    WatchedContest(WatchedContest const&) = delete;
    WatchedContest(WatchedContest&&) = delete;
    WatchedContest& operator=(WatchedContest const&) = delete;
    WatchedContest& operator=(WatchedContest&&) = delete;
    ~WatchedContest() { watchdog_.disarm(); }

private:
    Watchdog& watchdog_;
};

void require_complete(Contest const& contest, std::span<Candidate> candidates) {
    if (contest.plans.empty() || contest.slots.empty()) {
        throw Error("a contest without plans or without buffers");
    }
    std::uint64_t const positions = positions_of(contest.plans.size(), contest.slots.size());
    for (Candidate const& candidate : candidates) {
        if (candidate.backend == nullptr || candidate.positions.size() != positions) {
            throw Error(fmt::format("{}: {} compiled plans for {} draws in {} slots", candidate.name,
                                    candidate.positions.size(), contest.plans.size(), contest.slots.size()));
        }
    }
}

/// A transport that gives up by itself leaves the same record as one that the watchdog found standing still.
void take_turn(CellRun& cell, std::uint64_t round, Watchdog& watchdog) {
    try {
        if (round == 0) {
            cell.start();
        } else {
            cell.round(round);
        }
    } catch (TimeoutError const&) {
        watchdog.expire();
        throw;
    }
}

/// Collective. By cell: how many times slower than the best of its backend, where it shall get no more rounds; else 0.
std::vector<double> cells_to_drop(Contest const& contest, std::span<Candidate const> candidates,
                                  std::deque<CellRun> const& cells, double factor) {
    constexpr double steps = 1000;  // of a ratio that ranks tell each other
    std::vector<Standing> standings;
    for (CellRun const& cell : cells) {
        Standing& standing = standings.emplace_back(cell.standing());
        auto const league = std::find_if(candidates.begin(), candidates.end(), [&](Candidate const& candidate) {
            return candidate.backend == &cell.backend();
        });
        standing.league = static_cast<std::size_t>(league - candidates.begin());
    }
    std::vector<std::int64_t> slower(cells.size(), 0);
    for (Hopeless const& cell : hopeless(standings, factor)) {
        slower[cell.index] = std::llround(cell.times_slower * steps);
    }
    contest.bootstrap.all_reduce(slower, Fold::max);
    std::vector<double> ratios;
    std::transform(slower.begin(), slower.end(), std::back_inserter(ratios),
                   [](std::int64_t ratio) { return static_cast<double>(ratio) / steps; });
    return ratios;
}

}  // namespace

void run_contest(Contest const& contest, std::span<Candidate> candidates, RunnerOptions const& options,
                 Watchdog& watchdog, std::function<void(std::size_t, CellResult const&)> const& finished) {
    require_complete(contest, candidates);
    if (candidates.empty()) {
        return;
    }
    WatchedContest const watched(watchdog);
    watchdog.arm(candidates.front().name, options.timeout_ns);
    PhaseMap const phases(contest.bootstrap, contest.plans);
    PayloadCheck check(contest.bootstrap, contest.memory, contest.slots, contest.plans, options.fill);

    std::deque<CellRun> cells;
    for (Candidate& candidate : candidates) {
        cells.emplace_back(contest, candidate, options, watchdog, phases, check);
    }
    ActiveBackend active;
    std::size_t left = cells.size();
    auto const after_turn = [&](std::size_t index) {
        if (cells[index].over()) {
            --left;
            finished(index, cells[index].result());
        }
    };
    auto const drop_hopeless = [&] {
        std::vector<double> const slower = cells_to_drop(contest, candidates, cells, options.drop_slower);
        for (std::size_t index = 0; index < cells.size(); ++index) {
            if (slower[index] > 0) {
                active.use(cells[index].backend());
                watchdog.arm(candidates[index].name, options.timeout_ns);
                cells[index].drop(slower[index]);
                after_turn(index);
            }
        }
    };
    std::uint64_t round = 0;
    while (left > 0) {
        for (std::size_t const index : round_order(cells.size(), options.order_seed, round)) {
            CellRun& cell = cells[index];
            if (cell.over()) {
                continue;
            }
            active.use(cell.backend());
            watchdog.arm(candidates[index].name, options.timeout_ns);
            take_turn(cell, round, watchdog);
            after_turn(index);
        }
        if (options.drop_slower > 0 && round > 0 && left > 0) {
            drop_hopeless();
        }
        ++round;
    }
    active.release();
}

}  // namespace dlmb::measure
