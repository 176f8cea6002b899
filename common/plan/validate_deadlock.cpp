// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
//
// Plays all ranks' plans against each other in the order that backends run them in, under rendezvous semantics: nothing
// is buffered. Linear in the number of steps and parties.
#include "common/plan/ready_queue.hpp"
#include "common/plan/validation.hpp"

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
            Precedence precedence = precedence_of(plan);
            ReadyQueue queue(precedence);
            ranks_.push_back({std::move(precedence), std::move(queue),
                              std::vector<MeetingId>(plan.steps.size(), no_meeting),
                              std::vector<Progress>(plan.steps.size(), Progress::waiting)});
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
            ranks_[rank].queue.begin();
            active_.push_back(static_cast<Rank>(rank));
        }
        while (!active_.empty()) {
            Rank const rank = active_.back();
            active_.pop_back();
            while (auto const step = state(rank).queue.take()) {
                post({rank, *step});
            }
        }
    }

    /// The steps of a circle of waiting; empty when every rank came to its end.
    [[nodiscard]] std::vector<Party> circle() const {
        auto const stuck =
            std::find_if(ranks_.begin(), ranks_.end(), [](State const& state) { return !state.queue.done(); });
        if (stuck == ranks_.end()) {
            return {};
        }
        auto const rank = static_cast<Rank>(stuck - ranks_.begin());
        auto const open = std::find_if(stuck->progress.begin(), stuck->progress.end(),
                                       [](Progress progress) { return progress != Progress::complete; });
        std::vector<Party> path;
        Party next = posted_cause({rank, static_cast<StepId>(open - stuck->progress.begin())});
        auto const seen = [&] {
            return std::find_if(path.begin(), path.end(),
                                [&](Party const& party) { return party.rank == next.rank && party.step == next.step; });
        };
        while (seen() == path.end()) {
            path.push_back(next);
            next = posted_cause(missing_party(next));
        }
        return {seen(), path.end()};
    }

    /// Whom a posted step waits for: a party of its meeting that is not posted.
    [[nodiscard]] Party missing_party(Party const& posted) const {
        Meeting const& meeting = meetings_[state(posted.rank).meeting[posted.step]];
        return *std::find_if(meeting.begin(), meeting.end(), [&](Party const& party) {
            return state(party.rank).progress[party.step] == Progress::waiting;
        });
    }

private:
    enum class Progress : std::uint8_t { waiting, posted, complete };

    struct State {
        Precedence precedence;
        ReadyQueue queue;
        std::vector<MeetingId> meeting;  // by StepId
        std::vector<Progress> progress;  // by StepId
    };

    [[nodiscard]] State& state(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] State const& state(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    void post(Party const& party) {
        state(party.rank).progress[party.step] = Progress::posted;
        MeetingId const id = state(party.rank).meeting[party.step];
        if (id == no_meeting) {
            complete(party);
        } else if (--absent_[id] == 0) {
            for (Party const& each : meetings_[id]) {
                complete(each);
            }
        }
    }

    void complete(Party const& party) {
        State& rank = state(party.rank);
        rank.progress[party.step] = Progress::complete;
        rank.queue.complete(party.step);
        active_.push_back(party.rank);
    }

    /// The posted step that keeps this one from completing: itself, or what it waits for before it may be posted.
    [[nodiscard]] Party posted_cause(Party party) const {
        State const& rank = state(party.rank);
        auto const is_open = [&](StepId step) { return rank.progress[step] != Progress::complete; };
        while (rank.progress[party.step] == Progress::waiting) {
            std::vector<StepId> const& complete = rank.precedence.complete[party.step];
            auto const open = std::find_if(complete.begin(), complete.end(), is_open);
            party.step = open != complete.end() ? *open : rank.precedence.started[party.step].front();
        }
        return party;
    }

    std::span<Meeting const> meetings_;
    std::vector<State> ranks_;
    std::vector<std::size_t> absent_;  // by meeting: parties that have not posted
    std::vector<Rank> active_;         // ranks that may have ready steps
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
