// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/formats/plan/validate.hpp"

#include "common/formats/plan/ready_queue.hpp"
#include "common/formats/plan/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

namespace dlmb {
namespace validation {

std::string name_of(Plan const& plan, StepId step) {
    return fmt::format("rank {} step {} \"{}\"", plan.me, step, plan.steps[step].label);
}

void report(Problems& problems, Plan const& plan, StepId step, std::string_view text) {
    problems.push_back({plan.me, step, fmt::format("{} {}", name_of(plan, step), text)});
}

namespace {

/// Ranks out of order or groups beyond the world make every later message misleading.
void check_world(std::span<Plan const> all_ranks, Problems& problems) {
    auto const ranks = static_cast<Rank>(all_ranks.size());
    for (Rank rank = 0; rank < ranks; ++rank) {
        Plan const& plan = all_ranks[static_cast<std::size_t>(rank)];
        if (plan.me != rank) {
            problems.push_back({rank, 0, fmt::format("the plan of rank {} says that it is of rank {}", rank, plan.me)});
        }
        for (std::size_t id = 0; id < plan.groups.size(); ++id) {
            for (Rank const member : plan.groups[id].members) {
                if (member >= ranks) {
                    problems.push_back(
                        {rank, 0,
                         fmt::format("rank {} group {} names rank {} of a world of {}", rank, id, member, ranks)});
                }
            }
        }
    }
}

using MatchId = std::uint32_t;
constexpr MatchId no_match = std::numeric_limits<MatchId>::max();

class ProgressCheck {
public:
    ProgressCheck(std::span<Plan const> plans, std::span<MatchedSteps const> matches,
                  std::span<SignalledSteps const> signals)
        : matches_(matches), signals_(signals) {
        for (Plan const& plan : plans) {
            Precedence precedence = precedence_of(plan);
            ReadyQueue queue(precedence);
            ranks_.push_back({std::move(precedence),
                              std::move(queue),
                              std::vector<MatchId>(plan.steps.size(), no_match),
                              std::vector<StepProgress>(plan.steps.size(), StepProgress::waiting),
                              std::vector<std::uint32_t>(plan.steps.size(), 0),
                              {}});
        }
        for (SignalledSteps const& each : signals) {
            add_missing(each.wait, each.put);
            if (each.reads) {
                add_missing(each.put, each.wait);
            }
        }
        for (std::size_t id = 0; id < matches.size(); ++id) {
            absent_.push_back(matches[id].size());
            for (RankStep const& rank_step : matches[id]) {
                state(rank_step.rank).match[rank_step.step] = static_cast<MatchId>(id);
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

    /// The steps of a cycle of waiting; empty when every rank came to its end.
    [[nodiscard]] std::vector<RankStep> cycle() const {
        auto const stuck =
            std::find_if(ranks_.begin(), ranks_.end(), [](RankProgress const& state) { return !state.queue.done(); });
        if (stuck == ranks_.end()) {
            return {};
        }
        auto const rank = static_cast<Rank>(stuck - ranks_.begin());
        auto const open = std::find_if(stuck->progress.begin(), stuck->progress.end(),
                                       [](StepProgress progress) { return progress != StepProgress::complete; });
        std::vector<RankStep> path;
        RankStep next = posted_cause({rank, static_cast<StepId>(open - stuck->progress.begin())});
        auto const seen = [&] {
            return std::find_if(path.begin(), path.end(), [&](RankStep const& rank_step) {
                return rank_step.rank == next.rank && rank_step.step == next.step;
            });
        };
        while (seen() == path.end()) {
            path.push_back(next);
            next = posted_cause(missing_step(next));
        }
        return {seen(), path.end()};
    }

    /// Whom a posted step waits for: a step of its match that is not posted, or the other end of a signal.
    [[nodiscard]] RankStep missing_step(RankStep const& posted) const {
        if (state(posted.rank).match[posted.step] == no_match) {
            for (SignalledSteps const& each : signals_) {
                for (auto const& [end, other] : {std::pair(each.wait, each.put), std::pair(each.put, each.wait)}) {
                    if (end.rank == posted.rank && end.step == posted.step &&
                        state(other.rank).progress[other.step] == StepProgress::waiting) {
                        return other;
                    }
                }
            }
        }
        MatchedSteps const& match = matches_[state(posted.rank).match[posted.step]];
        return *std::find_if(match.begin(), match.end(), [&](RankStep const& rank_step) {
            return state(rank_step.rank).progress[rank_step.step] == StepProgress::waiting;
        });
    }

private:
    enum class StepProgress : std::uint8_t { waiting, posted, complete };

    struct RankProgress {
        Precedence precedence;
        ReadyQueue queue;
        std::vector<MatchId> match;                  // by StepId
        std::vector<StepProgress> progress;          // by StepId
        std::vector<std::uint32_t> missing;          // by StepId: other ends of signals that are not posted
        std::multimap<StepId, RankStep> awaited_by;  // by StepId: the other ends that wait for it to be posted
    };

    [[nodiscard]] RankProgress& state(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] RankProgress const& state(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    void add_missing(RankStep const& waiting, RankStep const& missing) {
        ++state(waiting.rank).missing[waiting.step];
        state(missing.rank).awaited_by.emplace(missing.step, waiting);
    }

    void post(RankStep const& rank_step) {
        state(rank_step.rank).progress[rank_step.step] = StepProgress::posted;
        MatchId const id = state(rank_step.rank).match[rank_step.step];
        if (id == no_match) {
            complete_alone(rank_step);
        } else if (--absent_[id] == 0) {
            for (RankStep const& each : matches_[id]) {
                complete(each);
            }
        }
    }

    /// A step without a match: a WaitSignal when all its Puts are posted, an offer when all its gets are, another one
    /// at once.
    void complete_alone(RankStep const& rank_step) {
        if (state(rank_step.rank).missing[rank_step.step] == 0) {
            complete(rank_step);
        }
        auto const [first, last] = state(rank_step.rank).awaited_by.equal_range(rank_step.step);
        for (auto each = first; each != last; ++each) {
            RankStep const other = each->second;
            bool const all = --state(other.rank).missing[other.step] == 0;
            if (all && state(other.rank).progress[other.step] == StepProgress::posted) {
                complete(other);
            }
        }
    }

    void complete(RankStep const& rank_step) {
        RankProgress& rank = state(rank_step.rank);
        rank.progress[rank_step.step] = StepProgress::complete;
        rank.queue.complete(rank_step.step);
        active_.push_back(rank_step.rank);
    }

    /// The posted step that keeps this one from completing: itself, or what it waits for before it may be posted.
    [[nodiscard]] RankStep posted_cause(RankStep rank_step) const {
        RankProgress const& rank = state(rank_step.rank);
        auto const is_open = [&](StepId step) { return rank.progress[step] != StepProgress::complete; };
        while (rank.progress[rank_step.step] == StepProgress::waiting) {
            std::vector<StepId> const& complete = rank.precedence.complete[rank_step.step];
            auto const open = std::find_if(complete.begin(), complete.end(), is_open);
            rank_step.step = open != complete.end() ? *open : rank.precedence.started[rank_step.step].front();
        }
        return rank_step;
    }

    std::span<MatchedSteps const> matches_;
    std::span<SignalledSteps const> signals_;
    std::vector<RankProgress> ranks_;
    std::vector<std::size_t> absent_;  // by match: steps that are not posted
    std::vector<Rank> active_;         // ranks that may have ready steps
};

/// Plays all ranks' plans against each other in the order that backends run them in, under rendezvous semantics:
/// nothing is buffered. A step is posted when its predecessors are complete; it completes when all parties of its match
/// are posted. A put waits for nobody, an offer and its gets for each other. Linear in the number of steps and parties.
void check_deadlock(std::span<Plan const> all_ranks, std::span<MatchedSteps const> matches,
                    std::span<SignalledSteps const> signals, Problems& problems) {
    ProgressCheck simulation(all_ranks, matches, signals);
    simulation.run();
    std::vector<RankStep> const cycle = simulation.cycle();
    if (cycle.empty()) {
        return;
    }
    auto const name = [&](RankStep const& rank_step) {
        return name_of(all_ranks[static_cast<std::size_t>(rank_step.rank)], rank_step.step);
    };
    std::string text = "deadlock:";
    for (RankStep const& rank_step : cycle) {
        text += fmt::format("{} {} waits for {}", &rank_step == &cycle.front() ? "" : ";", name(rank_step),
                            name(simulation.missing_step(rank_step)));
    }
    problems.push_back({cycle.front().rank, cycle.front().step, std::move(text)});
}

/// Whether the buffers of a step are shared; nullopt: it moves nothing on that side.
struct SharedSides {
    std::optional<bool> sent, received;
};

SharedSides shared_sides(Plan const& plan, StepId id) {
    Operation const& operation = plan.steps[id].operation;
    auto const shared = [&](bool moves, BufferId buffer) {
        return moves ? std::optional(plan.buffers.at(buffer).shared) : std::nullopt;
    };
    if (auto const* collective = std::get_if<Collective>(&operation)) {
        CollectiveSides const sides = sides_of(plan, *collective);
        return {shared(sides.sends && sides.sent > 0, collective->send.buffer),
                shared(sides.receives && sides.received > 0, collective->recv.buffer)};
    }
    BufferId sent = 0;
    BufferId received = 0;
    std::visit(
        [&](auto const& step) {
            if constexpr (requires { step.recv_buffer; }) {
                sent = step.send_buffer;
                received = step.recv_buffer;
            } else if constexpr (requires { step.buffer; }) {
                sent = received = step.buffer;
            }
        },
        operation);
    return {shared(!sent_blocks(operation).empty(), sent), shared(!received_blocks(operation).empty(), received)};
}

/// Later steps overwrite a shared buffer. A receiver with a buffer of its own checks its data, so it must not get them
/// from a shared one.
void check_sharing(std::span<Plan const> all_ranks, std::span<RankStep const> parties, Problems& problems) {
    RankStep const* overwritten = nullptr;
    RankStep const* checked = nullptr;
    for (RankStep const& each : parties) {
        Plan const& plan = all_ranks[static_cast<std::size_t>(each.rank)];
        if (plan.buffers.empty()) {
            return;
        }
        SharedSides const sides = shared_sides(plan, each.step);
        overwritten = sides.sent.value_or(false) ? &each : overwritten;
        checked = sides.received.value_or(true) ? checked : &each;
    }
    if (overwritten != nullptr && checked != nullptr) {
        report(problems, all_ranks[static_cast<std::size_t>(checked->rank)], checked->step,
               fmt::format("receives into a buffer of its own what {} sends from a shared one",
                           name_of(all_ranks[static_cast<std::size_t>(overwritten->rank)], overwritten->step)));
    }
}

}  // namespace
}  // namespace validation

std::vector<PlanProblem> validate(std::span<Plan const> all_ranks) {
    std::vector<PlanProblem> problems;
    validation::check_world(all_ranks, problems);
    for (Plan const& plan : all_ranks) {
        std::vector<PlanProblem> own = validate_rank(plan);
        std::move(own.begin(), own.end(), std::back_inserter(problems));
    }
    if (!problems.empty()) {
        return problems;
    }
    std::vector<validation::MatchedSteps> const matches = validation::match_steps(all_ranks, problems);
    std::vector<validation::SignalledSteps> const signals = validation::match_signals(all_ranks, problems);
    for (validation::MatchedSteps const& match : matches) {
        validation::check_sharing(all_ranks, match, problems);
    }
    for (auto const& [put, wait, reads] : signals) {
        validation::check_sharing(all_ranks, std::array{put, wait}, problems);
    }
    if (problems.empty()) {
        validation::check_deadlock(all_ranks, matches, signals, problems);
    }
    return problems;
}

}  // namespace dlmb
