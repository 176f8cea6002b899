// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plays all ranks' waves against each other under rendezvous semantics: nothing is buffered. Linear in the number of
// steps and parties.
#include "common/plan/validation.hpp"
#include "common/plan/waves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace dlmb::validation {
namespace {

using MeetingId = std::uint32_t;
constexpr MeetingId no_meeting = std::numeric_limits<MeetingId>::max();

class Simulation {
public:
    Simulation(std::span<Plan const> plans, std::span<Meeting const> meetings) : meetings_(meetings) {
        for (Plan const& plan : plans) {
            ranks_.push_back({waves(plan), wave_of_steps(plan), std::vector<MeetingId>(plan.steps.size(), no_meeting)});
        }
        for (std::size_t id = 0; id < meetings.size(); ++id) {
            absent_.push_back(meetings[id].size());
            for (Party const& party : meetings[id]) {
                state(party.rank).meeting[party.step] = static_cast<MeetingId>(id);
            }
        }
    }

    void run() {
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            enter(static_cast<Rank>(rank), 0);
        }
        while (!free_.empty()) {
            Rank const rank = free_.back();
            free_.pop_back();
            enter(rank, state(rank).wave + 1);
        }
    }

    /// The steps of a circle of waiting; empty when every rank came to its end.
    [[nodiscard]] std::vector<Party> circle() const {
        auto const stuck =
            std::find_if(ranks_.begin(), ranks_.end(), [](State const& s) { return s.wave < s.waves.size(); });
        if (stuck == ranks_.end()) {
            return {};
        }
        std::vector<Party> path;
        std::vector<bool> seen(ranks_.size(), false);
        auto rank = static_cast<Rank>(stuck - ranks_.begin());
        while (!seen[static_cast<std::size_t>(rank)]) {
            seen[static_cast<std::size_t>(rank)] = true;
            path.push_back({rank, waiting_step(rank)});
            rank = missing_party(path.back()).rank;
        }
        auto const begin =
            std::find_if(path.begin(), path.end(), [&](Party const& party) { return party.rank == rank; });
        return {begin, path.end()};
    }

    /// Whom a waiting step waits for: a party of its meeting that has not entered its wave.
    [[nodiscard]] Party missing_party(Party const& waiting) const {
        Meeting const& meeting = meetings_[state(waiting.rank).meeting[waiting.step]];
        return *std::find_if(meeting.begin(), meeting.end(), [&](Party const& party) {
            return state(party.rank).wave_of[party.step] > state(party.rank).wave;
        });
    }

private:
    struct State {
        std::vector<std::vector<StepId>> waves;
        std::vector<std::uint32_t> wave_of;
        std::vector<MeetingId> meeting;  // by StepId
        std::size_t wave = 0;            // the one that is posted
        std::size_t open = 0;            // its steps that are not complete
    };

    [[nodiscard]] State& state(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] State const& state(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    void enter(Rank rank, std::size_t wave) {
        State& me = state(rank);
        me.wave = wave;
        if (wave == me.waves.size()) {
            return;
        }
        std::vector<StepId> const& steps = me.waves[wave];
        // One more than there is, so that the wave cannot complete while it is still being posted.
        me.open = steps.size() + 1;
        for (StepId const step : steps) {
            MeetingId const id = me.meeting[step];
            if (id == no_meeting) {
                close_one(rank);
            } else if (--absent_[id] == 0) {
                for (Party const& party : meetings_[id]) {
                    close_one(party.rank);
                }
            }
        }
        close_one(rank);
    }

    void close_one(Rank rank) {
        if (--state(rank).open == 0) {
            free_.push_back(rank);
        }
    }

    [[nodiscard]] StepId waiting_step(Rank rank) const {
        State const& me = state(rank);
        std::vector<StepId> const& steps = me.waves[me.wave];
        return *std::find_if(steps.begin(), steps.end(), [&](StepId step) {
            return me.meeting[step] != no_meeting && absent_[me.meeting[step]] > 0;
        });
    }

    std::span<Meeting const> meetings_;
    std::vector<State> ranks_;
    std::vector<std::size_t> absent_;  // by meeting: parties that have not posted
    std::vector<Rank> free_;           // their posted wave is complete
};

}  // namespace

void check_deadlock(std::span<Plan const> all_ranks, std::span<Meeting const> meetings, Problems& problems) {
    Simulation simulation(all_ranks, meetings);
    simulation.run();
    std::vector<Party> const circle = simulation.circle();
    if (circle.empty()) {
        return;
    }
    auto const name = [&](Party const& party) {
        return name_of(all_ranks[static_cast<std::size_t>(party.rank)], party.step);
    };
    std::string text = "deadlock:";
    for (Party const& party : circle) {
        text += fmt::format("{} {} waits for {}", &party == &circle.front() ? "" : ";", name(party),
                            name(simulation.missing_party(party)));
    }
    problems.push_back({circle.front().rank, circle.front().step, std::move(text)});
}

}  // namespace dlmb::validation
