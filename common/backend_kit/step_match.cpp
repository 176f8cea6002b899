// Copyright (c) 2026 The DLMB developers
// SPDX-License-Identifier: BSD-3-Clause
#include "common/backend_kit/step_match.hpp"

#include "common/base/hash.hpp"

#include <map>

namespace dlmb {
namespace {

StepMatch identity(Plan const& plan, Send const& send) {
    return {.from = plan.me,
            .to = plan.groups.at(send.group).members.at(static_cast<std::size_t>(send.to.peer)),
            .channel = send.channel};
}
StepMatch identity(Plan const& plan, Recv const& recv) {
    return {.from = plan.groups.at(recv.group).members.at(static_cast<std::size_t>(recv.from.peer)),
            .to = plan.me,
            .channel = recv.channel};
}
StepMatch identity(Plan const& /*plan*/, Compute const& /*compute*/) {
    return {};
}
/// All of a launch are one: their payload is that of the stream of puts between two ranks.
constexpr int channel_of_puts = -1;
StepMatch identity(Plan const& /*plan*/, Put const& /*put*/) {
    return {.channel = channel_of_puts};
}
StepMatch identity(Plan const& /*plan*/, WaitSignal const& /*wait*/) {
    return {.channel = channel_of_puts};
}
template <class Collective>
StepMatch identity(Plan const& plan, Collective const& collective) {
    return {.members = plan.groups.at(collective.group).members};
}

}  // namespace

std::vector<StepMatch> match_steps(Plan const& plan) {
    // A self send and its receive are two ends of one message: each end counts on its own.
    std::map<StepMatch, std::uint32_t> seen;
    std::map<StepMatch, std::uint32_t> seen_receives;
    std::vector<StepMatch> matches;
    matches.reserve(plan.steps.size());
    for (Step const& step : plan.steps) {
        StepMatch match =
            std::visit([&plan](auto const& operation) { return identity(plan, operation); }, step.operation);
        if (!std::holds_alternative<Compute>(step.operation) && match.channel != channel_of_puts) {
            match.occurrence = (std::holds_alternative<Recv>(step.operation) ? seen_receives : seen)[match]++;
        }
        matches.push_back(std::move(match));
    }
    return matches;
}

std::uint32_t step_number(StepMatch const& match) {
    std::uint64_t hash = fnv1a_start;  // payload_key mixes it well
    auto const add = [&hash](std::uint32_t field) { hash = fnv1a(hash, field); };
    for (Rank const member : match.members) {
        add(static_cast<std::uint32_t>(member));
    }
    add(static_cast<std::uint32_t>(match.channel));
    add(match.occurrence);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace dlmb
