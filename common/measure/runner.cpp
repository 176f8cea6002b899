// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/measure/runner.hpp"

#include "common/base/error.hpp"
#include "common/measure/buffers/rotation.hpp"
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

/// A candidate among all that take turns.
struct Turn {
    CellRun cell;
    ContestRun const& run;
    std::size_t index;  // in the run

    [[nodiscard]] Candidate const& candidate() const { return run.candidates[index]; }
    [[nodiscard]] bool in_league_of(Turn const& other) const {
        return &run == &other.run && &cell.backend() == &other.cell.backend();
    }
};

/// What the cells of one contest share while they run.
struct Shared {
    PhaseMap phases;
    PayloadCheck check;

    Shared(Contest const& contest, Fill fill)
        : phases(contest.bootstrap, contest.plans),
          check(contest.bootstrap, contest.memory, contest.slots, contest.plans, fill) {}
};

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

/// Collective. By turn: how many times slower than the best of its backend, where it shall get no more rounds; else 0.
std::vector<double> turns_to_drop(std::deque<Turn> const& turns, double factor) {
    constexpr double steps = 1000;  // of a ratio that ranks tell each other
    std::vector<Standing> standings;
    for (Turn const& turn : turns) {
        Standing& standing = standings.emplace_back(turn.cell.standing());
        auto const league =
            std::find_if(turns.begin(), turns.end(), [&](Turn const& first) { return turn.in_league_of(first); });
        standing.league = static_cast<std::size_t>(league - turns.begin());
    }
    std::vector<std::int64_t> slower(turns.size(), 0);
    for (Hopeless const& cell : hopeless(standings, factor)) {
        slower[cell.index] = std::llround(cell.times_slower * steps);
    }
    turns.front().run.contest.bootstrap.all_reduce(slower, Fold::max);
    std::vector<double> ratios;
    std::transform(slower.begin(), slower.end(), std::back_inserter(ratios),
                   [](std::int64_t ratio) { return static_cast<double>(ratio) / steps; });
    return ratios;
}

}  // namespace

void run_contests(std::span<ContestRun const> runs, RunnerOptions const& options, Watchdog& watchdog) {
    WatchedContest const watched(watchdog);
    std::deque<Shared> shared;
    std::deque<Turn> turns;
    for (ContestRun const& run : runs) {
        require_complete(run.contest, run.candidates);
        if (run.candidates.empty()) {
            continue;
        }
        watchdog.arm(run.candidates.front().name, options.timeout_ns);
        Shared& of_run = shared.emplace_back(run.contest, options.fill);
        for (std::size_t index = 0; index < run.candidates.size(); ++index) {
            turns.push_back(
                {{run.contest, run.candidates[index], options, watchdog, of_run.phases, of_run.check}, run, index});
        }
    }
    ActiveBackend active;
    std::size_t left = turns.size();
    auto const visit = [&](Turn& turn, auto const& what) {
        active.use(turn.cell.backend());
        watchdog.arm(turn.candidate().name, options.timeout_ns);
        what(turn.cell);
        if (turn.cell.over()) {
            --left;
            turn.run.finished(turn.index, turn.cell.result());
        }
    };
    std::uint64_t round = 0;
    while (left > 0) {
        for (std::size_t const number : round_order(turns.size(), options.order_seed, round)) {
            if (!turns[number].cell.over()) {
                visit(turns[number], [&](CellRun& cell) { take_turn(cell, round, watchdog); });
            }
        }
        if (options.drop_slower > 0 && round > 0 && left > 0) {
            std::vector<double> const slower = turns_to_drop(turns, options.drop_slower);
            for (std::size_t number = 0; number < turns.size(); ++number) {
                if (slower[number] > 0) {
                    visit(turns[number], [&](CellRun& cell) { cell.drop(slower[number]); });
                }
            }
        }
        ++round;
    }
    active.release();
}

}  // namespace dlmb::measure
